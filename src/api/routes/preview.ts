import { contractLimits } from "../../machine/contract-limits.ts";
import { parseRate } from "../../calendar/aws-cron.ts";
import { parseCron } from "../../calendar/cron.ts";
import { formatDuration, parseDuration } from "../../calendar/duration.ts";
import { preview, type PreviewTime } from "../../calendar/preview.ts";
import { iso, maybeIso } from "../../machine/units.ts";
import type { Expression } from "../../machine/schedule.ts";
import { zoneProblem } from "../../calendar/zone.ts";
import { endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem } from "../problem.ts";
import { previewReply } from "../shape/schedule.ts";
import { previewQuery } from "../schedule-query.ts";

/** GET /preview?expression=...&timezone=...: the next times of an expression that no schedule has yet, with DST notes. */
export function previewEndpoint({ ports: { store } }: ApiOptions) {
  return endpoint("GET /preview", {
    name: "previewExpression",
    refuses: ["invalid-expression"],
    summary: "The next times of an expression that no schedule has yet",
    description: "Five-field cron, `cron(...)`, `rate(...)` or a duration.",
    example: { query: { expression: "30 2 * * *", timezone: "America/New_York", count: "3" } },
    scope: "nothing",
    query: previewQuery,
    replies: { 200: previewReply },
    async reply({ query: { expression: text, timezone, gap, overlap, count, after } }) {
      const { expression, notes } = readExpression(text);
      const zone = zoneProblem(timezone);
      if (zone !== null) throw invalid("timezone", zone);
      const from = after ?? (await store.now());
      const dst = { gap, overlap };
      const when = { expression, timezone: zoneOf(expression, timezone), dst, startAt: null, endAt: null };
      return { expression: text, notes, ...previewJson(when.timezone, preview(when, from, count)) };
    },
  });
}

export const previewJson = (timezone: string, times: readonly PreviewTime[]) => ({
  timezone,
  times: times.map(({ instant, effectiveAt, ...time }) => ({
    ...time,
    at: iso(instant),
    effectiveAt: maybeIso(effectiveAt),
  })),
  ended: times.length === 0,
});

/** Elapsed time knows no zone. */
const zoneOf = (expression: Expression, timezone: string): string => (expression.form === "cron" ? timezone : "UTC");

/** Cron with five fields, AWS's `cron(...)` and `rate(...)`, or a duration for `every`. */
function readExpression(text: string): { expression: Expression; notes: readonly string[] } {
  if (text.startsWith("rate(")) {
    const rate = parseRate(text);
    if (!rate.ok) throw invalid("expression", rate.problem);
    return { expression: rate.expression, notes: [] };
  }
  const everyMs = parseDuration(text);
  if (everyMs !== null) {
    const { everyMsMin: min, everyMsMax: max } = contractLimits;
    if (everyMs < min) throw invalid("expression", `every "${text}": must be at least ${formatDuration(min)}`);
    if (everyMs > max) throw invalid("expression", `every "${text}": must be at most ${formatDuration(max)}`);
    return { expression: { form: "every", everyMs }, notes: [] };
  }
  const parsed = parseCron(text);
  if (!parsed.ok) throw invalid("expression", parsed.problem);
  return { expression: { form: "cron", cron: text }, notes: parsed.notes };
}

const invalid = (path: string, message: string): HttpProblem =>
  new HttpProblem("invalid-expression", message, { issues: [{ path: `?${path}`, message }] });
