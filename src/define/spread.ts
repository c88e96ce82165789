/** Where a spread schedule lies behind its nominal times. Its offset is stored with its spec, so a version is whole. */
import { parseCron } from "../calendar/cron.ts";
import { formatDuration } from "../calendar/duration.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Expression, Spread } from "../machine/schedule.ts";
import { dayMs, minuteMs, secondMs } from "../machine/units.ts";
import { fnv1a } from "./graph-shape.ts";
import type { ProblemList } from "./problem.ts";
import { readDuration } from "./setting.ts";

/** Of a schedule's options, with each expression that a stage gives it. */
export function readSpread(
  spread: unknown,
  expressions: readonly Expression[],
  problems: ProblemList,
): (app: string, id: string) => { spread?: Spread } {
  if (spread === undefined) return () => ({});
  const { spreadMsMin: min, spreadMsMax: max } = contractLimits;
  const withinMs = readDuration(problems, "spread", spread, { min, max, fallback: min });
  for (const expression of expressions) {
    const gapMs = smallestGapMs(expression);
    if (gapMs === null)
      problems.add("spread", spread, "goes with cron or every: nothing else comes again", "leave it out");
    else if (withinMs > gapMs)
      problems.add(
        "spread",
        spread,
        `is ${formatDuration(withinMs)}, and the smallest gap between two of its times is ${formatDuration(gapMs)}`,
        `use at most ${formatDuration(gapMs)}, so that a time starts before the next one comes`,
      );
  }
  return (app, id) => ({ spread: { withinMs, offsetMs: offsetMsOf(app, id, withinMs) } });
}

/**
 * Between two readings of the expression, on days that follow each other; null where nothing repeats. Clock changes and moves of a
 * calendar may bring two times closer together. They keep their order all the same, since both are moved by one offset.
 */
export function smallestGapMs(expression: Expression): number | null {
  if (expression.form === "every") return expression.everyMs;
  const parsed = expression.form === "cron" ? parseCron(expression.cron) : null;
  if (parsed?.ok !== true) return parsed === null ? null : Number.POSITIVE_INFINITY;
  const { hours, minutes } = parsed.cron;
  const ofDay = hours.flatMap((hour) => minutes.map((minute) => (hour * 60 + minute) * minuteMs));
  const next = [...ofDay.slice(1), (ofDay[0] ?? 0) + dayMs];
  return Math.min(...ofDay.map((time, place) => (next[place] ?? dayMs) - time));
}

/** Whole seconds in `[0, withinMs)`, the same in each process and after each deploy. */
export function offsetMsOf(app: string, id: string, withinMs: number): number {
  return (fnv1a(JSON.stringify([app, id])) % Math.floor(withinMs / secondMs)) * secondMs;
}
