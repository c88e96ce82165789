import { runLimits } from "../machine/run-limits.ts";
import { type Aftermath, mergeAftermaths, noAftermath } from "../machine/aftermath.ts";
import type { Ports } from "../machine/ports.ts";
import { relay, wakeHeld } from "./relay.ts";
import { resolveOnce } from "./resolve.ts";
import { sendOutbox } from "./send.ts";

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

const isDone = ({ outbox, runs, freed, leftToRelay }: Aftermath): boolean =>
  outbox.length + runs.length + freed.length + leftToRelay.length === 0;

/** @returns what these steps leave to do. */
async function doOnce(ports: AfterCommitPorts, { outbox, runs, freed, leftToRelay }: Aftermath): Promise<Aftermath> {
  await attempt(ports, "send", () => sendOutbox(ports, outbox));
  const parts: Aftermath[] = [];
  if (runs.length > 0) {
    await attempt(ports, "resolve", async () => {
      const resolved = await resolveOnce(ports, { runs });
      parts.push(resolved.aftermath);
      if (resolved.more && resolved.steps > 0) parts.push({ ...noAftermath, runs });
    });
  }
  await attempt(ports, "wake", () => wakeHeld(ports, { slotKeys: freed }));
  for (const lane of leftToRelay) await attempt(ports, "relay", () => relay(ports, { lane }));
  return mergeAftermaths(parts);
}

async function attempt(ports: AfterCommitPorts, step: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    ports.log.warn("work after a commit failed; the next pass does it", { step, error });
    ports.metrics.add("aftermath.failed", 1);
  }
}
