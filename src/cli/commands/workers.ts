import { Command } from "commander";
import type { LaneListReply } from "../../api/shape/overview.ts";
import { api } from "../api.ts";
import { type Output, table } from "../output.ts";
import type { World } from "../world.ts";

export function workersCommand(world: World, out: Output): Command {
  const command = new Command("workers");
  return command
    .addHelpText("after", "\nExample:\n  $ npx belfry workers --json")
    .action(async (_: object, of: Command) => {
      const { workers } = await api(world, of).get<LaneListReply>("/lanes");
      const rows = workers.map((worker) => [
        worker.id,
        worker.lane ?? "",
        worker.version ?? "",
        worker.status,
        worker.seenAt,
        `${worker.ended} (${worker.failed} failed, ${worker.lost} lost)`,
        worker.running.map(runningText).join(", "),
      ]);
      const head = ["WORKER", "LANE", "VERSION", "STATUS", "SEEN", "ATTEMPTS", "RUNNING"];
      out.result({ workers }, () => (rows.length === 0 ? "no workers" : table(head, rows, world.streams.isTerminal)));
    });
}

const runningText = ({ job, progress }: LaneListReply["workers"][number]["running"][number]): string =>
  progress === null ? job : `${job} (${Math.round(progress * 100)} %)`;
