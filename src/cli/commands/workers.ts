import { Command } from "commander";
import type { WorkerListReply } from "../../api/shape/overview.ts";
import { api } from "../api.ts";
import type { Output } from "../output.ts";
import type { World } from "../world.ts";

export function workersCommand(world: World, out: Output): Command {
  const command = new Command("workers");
  return command
    .addHelpText("after", "\nExample:\n  $ npx belfry workers --json")
    .action(async (_: object, of: Command) => {
      const found = await api(world, of).get<WorkerListReply>("/workers");
      const rows = found.workers.map((worker) => [
        worker.id,
        worker.status,
        out.time(worker.seenAt),
        worker.lane ?? "",
        `${worker.ended} (${worker.failed} failed, ${worker.lost} lost)`,
        worker.running.map(runningText).join(", "),
        worker.version ?? "",
      ]);
      const head = ["WORKER", "STATUS", "SEEN", "LANE", "ATTEMPTS", "RUNNING", "VERSION"];
      out.result(found, () => (rows.length === 0 ? "no workers" : out.table(head, rows)));
    });
}

const runningText = ({ job, progress }: WorkerListReply["workers"][number]["running"][number]): string =>
  progress === null ? job : `${job} (${Math.round(progress * 100)} %)`;
