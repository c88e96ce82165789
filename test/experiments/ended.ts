import { setInterval as ticks } from "node:timers/promises";
import type { Check, Evidence, Judge } from "../demo/judge.ts";

const lookMs = 1_000;
/** Longer than the longest job: one that hangs has four tries of a minute, and moves nothing before the last one ends. */
const stuckMs = 330_000;

/** Waits until the effects that a judge knows are complete, or nothing has moved for long. @param beside done at each look. */
export async function untilEnded(
  judge: Pick<Judge, "progress">,
  evidence: Evidence,
  say: (text: string) => void,
  beside: () => Promise<void> = async () => {},
): Promise<Check> {
  const beganMs = performance.now();
  let [movedMs, last] = [beganMs, ""];
  for await (const _ of ticks(lookMs)) {
    await beside();
    const { done, line } = await judge.progress(evidence);
    const nowMs = performance.now();
    if (line !== last) {
      movedMs = nowMs;
      say(line);
    }
    last = line;
    if (!done && nowMs - movedMs < stuckMs) continue;
    const after = `${((nowMs - beganMs) / 1_000).toFixed(0)} s after the last request`;
    return { name: "everything comes to its end", pass: done, detail: `${line}, ${after}` };
  }
  throw new Error("the clock stopped");
}
