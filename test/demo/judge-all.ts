import { setInterval as ticks } from "node:timers/promises";
import type { Evidence, Judge } from "./judge.ts";
import { judges } from "./judges.ts";
import { type ExampleReport, judgeExample } from "./report.ts";

/** How to wait for the effects of the examples. */
export interface Watching {
  readonly lookMs: number;
  /** Seconds until the time is up. */
  left(): number;
  /** Told whatever has changed since the last look. */
  say(text: string): void;
  readonly signal: AbortSignal;
}

/** Does what people do, waits until the effects of all examples are complete or the time is up, and judges each. */
export async function judgeAll(api: string, evidence: Evidence, watching: Watching): Promise<readonly ExampleReport[]> {
  await Promise.all(judges.map(async (judge) => judge.begin?.(api)));
  const complete = await untilComplete(evidence, watching);
  const examples = [];
  for (const judge of judges) examples.push(await judgeExample(judge, evidence, complete.has(judge)));
  return examples;
}

/** @returns the examples whose effects are complete. */
async function untilComplete(evidence: Evidence, { lookMs, left, say, signal }: Watching): Promise<ReadonlySet<Judge>> {
  const complete = new Set<Judge>();
  const told = new Map<Judge, string>();
  for await (const _ of ticks(lookMs)) {
    for (const judge of judges.filter((each) => !complete.has(each))) {
      const { done, line } = await judge.progress(evidence);
      if (told.get(judge) !== line) say(`${judge.name}: ${line}`);
      told.set(judge, line);
      if (done) complete.add(judge);
    }
    if (complete.size === judges.length || left() <= 0 || signal.aborted) break;
  }
  return complete;
}
