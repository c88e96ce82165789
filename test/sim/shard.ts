/** One of the threads that share the seeds, or the planted bugs, of a run. */
import { parentPort, workerData } from "node:worker_threads";
import { findBug, runSeeds, type Caught, type FoundViolation } from "./find.ts";
import { openVariants } from "./variants.ts";

interface Shard {
  /** On a real Postgres. */
  readonly sql: boolean;
  readonly from: number;
}

export type Task =
  | (Shard & { readonly is: "seeds"; readonly to: number; readonly step: number })
  | (Shard & { readonly is: "bugs"; readonly names: readonly string[]; readonly max: number });

export type Report =
  | { readonly is: "progress"; readonly done: number }
  | { readonly is: "caught"; readonly caught: Caught }
  | { readonly is: "done"; readonly violations: readonly FoundViolation[] };

const task = workerData as Task;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
const report = (message: Report): void => parentPort?.postMessage(message);

function* seedsOf({ from, to, step }: { from: number; to: number; step: number }): Generator<number> {
  for (let seed = from; seed <= to; seed += step) yield seed;
}

const variants = await openVariants(task);
try {
  if (task.is === "seeds") {
    const progress = { each: task.sql ? 5 : 50, report: (done: number) => report({ is: "progress", done }) };
    const violations = await runSeeds(seedsOf(task), variants.of(null), progress);
    report({ is: "done", violations });
  } else {
    for (const name of task.names) {
      report({ is: "caught", caught: await findBug(name, variants.of(name), task) });
    }
    report({ is: "done", violations: [] });
  }
} finally {
  await variants.close();
}
