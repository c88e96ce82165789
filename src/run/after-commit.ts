import { runLimits } from "../machine/run-limits.ts";
import { type Aftermath, mergeAftermaths, noAftermath } from "../machine/outbox.ts";
import type { Ports } from "../machine/ports.ts";
import { giveTurns, relay, wakeHeld } from "./relay.ts";
import { sendOutbox } from "./send.ts";
import type { RunId } from "../machine/job.ts";
import type { Fence } from "../machine/fence.ts";
import type { Resolved } from "../machine/run.ts";

export type AfterCommitPorts = Pick<Ports, "store" | "queue" | "clock" | "log" | "metrics" | "crashPoint" | "tracing">;

/**
 * Does what a committed change left: sends its messages, resolves its runs, wakes jobs for freed slots, relays its lanes, and
 * then what that leaves. Never rejects: the change is committed, and the next pass does what fails here.
 */
export async function afterCommit(
  ports: AfterCommitPorts,
  aftermath: Aftermath,
  rounds: number = runLimits.resolveRoundsMax,
): Promise<void> {
  let left = aftermath;
  for (let round = 0; round < rounds && !isDone(left); round += 1) left = await doOnce(ports, left);
}

const isDone = ({ turns, ...lists }: Aftermath): boolean =>
  [...Object.values(lists), ...Object.values(turns)].every((list: readonly unknown[]) => list.length === 0);

/** @returns what these steps leave to do. */
async function doOnce(ports: AfterCommitPorts, left: Aftermath): Promise<Aftermath> {
  const { outbox, runs, freed, leftToRelay, turns, batches } = left;
  await attempt(ports, "send", () => sendOutbox(ports, outbox));
  const parts: Aftermath[] = [];
  if (runs.length > 0) {
    await attempt(ports, "resolve", async () => {
      const resolved = await resolveOnce(ports, { runs });
      parts.push(resolved.aftermath);
      if (resolved.more && resolved.steps > 0) parts.push({ ...noAftermath, runs });
    });
  }
  if (freed.length > 0) await attempt(ports, "wake", () => wakeHeld(ports, { slotKeys: freed }));
  for (const lane of leftToRelay) await attempt(ports, "relay", () => relay(ports, { lane }));
  if (turns.lanes.length + turns.keys.length > 0) await attempt(ports, "turns", () => giveTurns(ports, { of: turns }));
  if (batches.length > 0)
    await attempt(ports, "batches", async () => sendOutbox(ports, await ports.store.startFull(batches)));
  return parts.length === 0 ? noAftermath : mergeAftermaths(parts);
}

async function attempt(ports: AfterCommitPorts, step: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    ports.log.warn("work after a commit failed; the next pass does it", { step, error });
    ports.metrics.add("aftermath.failed", 1);
  }
}

/** One bounded round over these runs; the caller does what it leaves. */
export async function resolveOnce(
  ports: Pick<Ports, "store" | "log" | "metrics">,
  options: {
    readonly runs: readonly RunId[] | "all";
    readonly fence?: Fence | undefined;
  },
): Promise<Resolved> {
  const resolved = await ports.store.resolve({ ...options, limit: runLimits.resolveRowsMax });
  for (const run of resolved.closed) {
    ports.log.info("run closed", { run: run.runId, kind: run.kind, state: run.state });
    ports.metrics.add(`run.${run.state.toLowerCase()}`, 1, "Count", { job: run.kind });
  }
  return resolved;
}

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
