/** One of the threads that share the seeds, or the planted bugs, of a run. */
import { parentPort, workerData } from "node:worker_threads";
import { catchMutant, runSeeds } from "./find.ts";
import type { Caught, FoundViolation } from "./find.ts";
import { mutantNamed } from "./mutants/index.ts";

export type Task =
  | {
      readonly is: "seeds";
      readonly from: number;
      readonly to: number;
      readonly step: number;
      readonly mutant: string | null;
    }
  | { readonly is: "mutants"; readonly names: readonly string[]; readonly from: number; readonly seedsMax: number };

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

if (task.is === "seeds") {
  const mutant = task.mutant === null ? null : mutantNamed(task.mutant);
  const violations = await runSeeds(seedsOf(task), mutant, (done) => report({ is: "progress", done }));
  report({ is: "done", violations });
} else {
  for (const name of task.names) report({ is: "caught", caught: await catchMutant(name, task.from, task.seedsMax) });
  report({ is: "done", violations: [] });
}
