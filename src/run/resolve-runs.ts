import type { RunId } from "../machine/job.ts";
import type { Fence } from "../machine/fence.ts";
import type { Ports } from "../machine/ports.ts";
import { afterCommit } from "./after-commit.ts";
import { resolveOnce } from "./resolve.ts";

/**
 * Brings runs forward: spreads skipped branches, adds up wide joins and progress, closes what is complete. Repeats while work
 * remains, because a concurrent writer may have appended after a round read.
 */
export async function resolveRuns(
  ports: Pick<Ports, "store" | "queue" | "clock" | "log" | "metrics" | "crashPoint">,
  options: {
    readonly runs: readonly RunId[] | "all";
    readonly rounds: number;
    readonly fence?: Fence | undefined;
    readonly signal?: AbortSignal;
  },
): Promise<Record<string, number>> {
  const { runs, rounds, fence } = options;
  let steps = 0;
  let closed = 0;
  for (let round = 0; round < rounds && options.signal?.aborted !== true; round += 1) {
    const resolved = await resolveOnce(ports, { runs, fence });
    await afterCommit(ports, resolved.aftermath);
    steps += resolved.steps;
    closed += resolved.closed.length;
    if (!resolved.more || resolved.steps === 0) break;
  }
  return { resolved: steps, "runs.closed": closed };
}
