import { Command } from "commander";
import type { HealthReply } from "../../api/shape/schedule.ts";
import { api } from "../api.ts";
import type { Output } from "../output.ts";
import type { World } from "../world.ts";

export function archiveCommand(world: World, out: Output): Command {
  const command = new Command("archive");
  return command
    .addHelpText("after", "\nExample:\n  $ npx belfry archive --json")
    .action(async (_: object, of: Command) => {
      const { archive } = await api(world, of).get<HealthReply>("/health");
      const rows = archive.map(({ part, until, objects, rows: count, bytes, failing }) => [
        part,
        until === null ? "" : out.time(until),
        String(count),
        String(objects),
        String(bytes),
        failing === null ? "" : `since ${out.time(failing.since)}: ${failing.error}`,
      ]);
      const head = ["PART", "UNTIL", "ROWS", "OBJECTS", "BYTES", "FAILS"];
      out.result({ archive }, () => (rows.length === 0 ? "nothing has left for an archive" : out.table(head, rows)));
    });
}
