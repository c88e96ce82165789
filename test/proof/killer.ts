import type { System } from "./system.ts";
import { until } from "./until.ts";

/** Kills one of these processes; the target's ledger has its death in the order of everything else. @returns how many it killed. */
export async function killOne(system: System, pids: readonly number[], random: () => number): Promise<0 | 1> {
  const victim = pids[Math.floor(random() * pids.length)];
  if (victim === undefined) return 0;
  // Stopped first, so that it does nothing between the note of its death and the death.
  process.kill(victim, "SIGSTOP");
  await system.ledger.noteKilled(victim);
  process.kill(victim, "SIGKILL");
  await until("the worker to be gone", 60_000, () => system.processes.endOf(victim));
  return 1;
}

export interface Killer {
  stop(): void;
  count(): number;
}

/** Kills one of them every `everyMs`. One that has done nothing yet shows nothing. */
export function killNowAndThen(
  { processes }: System,
  pids: () => readonly number[],
  { everyMs, random }: { everyMs: number; random: () => number },
): Killer {
  let count = 0;
  const timer = setInterval(() => {
    const living = pids();
    const victim = living[Math.floor(random() * living.length)];
    if (victim === undefined || processes.endOf(victim) !== undefined) return;
    if (!processes.histories.some(({ pid }) => pid === victim)) return;
    process.kill(victim, "SIGKILL");
    count += 1;
  }, everyMs);
  return { stop: () => clearInterval(timer), count: () => count };
}
