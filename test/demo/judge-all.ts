import { setInterval as ticks } from "node:timers/promises";
import type { Evidence, Judge } from "./judge.ts";
import { judges } from "./judges.ts";
import { type ExampleReport, judgeExample } from "./report.ts";

/** How to wait for the effects of the examples. */
export interface Watching {
  readonly lookMs: number;
  /** Without any progress for this long, what is missing will not come. */
  readonly stuckMs: number;
  /** The end also while progress is made. */
  readonly maxMs: number;
  /** Milliseconds; 0 at any moment. */
  now(): number;
  /** Called with each change since the last look. */
  say(text: string): void;
  readonly signal: AbortSignal;
}

/** How the wait ended. */
export type Ended = "complete" | "stuck" | "out of time" | "interrupted";

/** Does what people do, waits until the effects of all examples are complete or no progress is made, and judges each. */
export async function judgeAll(
  api: string,
  evidence: Evidence,
  watching: Watching,
): Promise<{ readonly examples: readonly ExampleReport[]; readonly ended: Ended }> {
  await Promise.all(judges.map(async (judge) => judge.begin?.(api)));
  const { complete, ended } = await untilComplete(evidence, watching);
  const examples = [];
  for (const judge of judges) examples.push(await judgeExample(judge, evidence, complete.has(judge)));
  return { examples, ended };
}

/** @returns the examples whose effects are complete, and how the wait ended. */
async function untilComplete(
  evidence: Evidence,
  { lookMs, stuckMs, maxMs, now, say, signal }: Watching,
): Promise<{ complete: ReadonlySet<Judge>; ended: Ended }> {
  const complete = new Set<Judge>();
  const said = new Map<Judge, string>();
  const beganMs = now();
  let movedMs = beganMs;
  for await (const _ of ticks(lookMs)) {
    if (signal.aborted) return { complete, ended: "interrupted" };
    for (const judge of judges.filter((each) => !complete.has(each))) {
      const { done, line } = await judge.progress(evidence);
      if (said.get(judge) !== line) {
        say(`${judge.name}: ${line}`);
        movedMs = now();
      }
      said.set(judge, line);
      if (done) complete.add(judge);
    }
    if (complete.size === judges.length) return { complete, ended: "complete" };
    if (now() - movedMs > stuckMs) return { complete, ended: "stuck" };
    if (now() - beganMs > maxMs) return { complete, ended: "out of time" };
  }
  return { complete, ended: "interrupted" };
}
