/** AWS's schedule expressions: `cron(...)` with six fields, `rate(...)` and `at(...)`. */
import { type CronParts, CronProblem } from "./cron-field.ts";
import { formatDuration } from "./duration.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Expression } from "../machine/schedule.ts";

/** Splits `cron(minute hour day-of-month month day-of-week year)`. Exactly one of the two day fields is `?`. */
export function splitAws(text: string): CronParts {
  const inner = /^cron\((.*)\)$/.exec(text)?.[1];
  if (inner === undefined) throw new CronProblem("AWS's form is cron(minute hour day-of-month month day-of-week year)");
  if (inner !== inner.trim()) throw new CronProblem("no spaces next to the parentheses");
  const parts = inner === "" ? [] : inner.split(/ +/);
  if (parts.length !== 6) {
    throw new CronProblem(
      `has ${parts.length} fields, cron(...) takes six: minute, hour, day of month, month, day of week, year`,
    );
  }
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = "", year = ""] = parts;
  if ((dayOfMonth === "?") === (dayOfWeek === "?")) {
    throw new CronProblem(
      `day of month "${dayOfMonth}" and day of week "${dayOfWeek}": exactly one of the two is \`?\` in AWS's form`,
    );
  }
  return { minute, hour, dayOfMonth, month, dayOfWeek, year };
}

const units = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** What `rate(...)` or `at(...)` says, or what is wrong with it. */
export type AwsExpression<F extends Expression["form"]> =
  | { readonly ok: true; readonly expression: Expression & { form: F } }
  | { readonly ok: false; readonly problem: string };

const refused = (problem: string) => ({ ok: false, problem }) as const;

/** `rate(value unit)`: elapsed time; the unit is singular for 1 and plural above. */
export function parseRate(text: string): AwsExpression<"every"> {
  const match = /^rate\((\d{1,9}) (minute|hour|day)(s?)\)$/.exec(text);
  if (match === null) {
    return refused(
      `rate "${text}": write rate(value unit), the value a whole number, the unit minute(s), hour(s) or day(s)`,
    );
  }
  const value = Number(match[1]);
  const unit = match[2] as keyof typeof units;
  if (value === 0) return refused(`rate "${text}": the value is at least 1`);
  if ((value === 1) !== (match[3] === "")) {
    return refused(`rate "${text}": unit "${unit}${match[3]}": write rate(${value} ${unit}${value === 1 ? "" : "s"})`);
  }
  const everyMs = value * units[unit];
  if (everyMs > contractLimits.everyMsMax) {
    return refused(`rate "${text}": must be at most ${formatDuration(contractLimits.everyMsMax)}`);
  }
  return { ok: true, expression: { form: "every", everyMs } };
}

/** `at(yyyy-mm-ddThh:mm:ss)`, without an offset: the time is UTC, as in AWS when no zone is given. */
export function parseAt(text: string): AwsExpression<"at"> {
  const match = /^at\((\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\)$/.exec(text);
  if (match === null) return refused(`at "${text}": write at(yyyy-mm-ddThh:mm:ss), without an offset`);
  const [year, month, ...rest] = match.slice(1).map(Number) as [year: number, month: number];
  const at = Date.UTC(year, month - 1, ...rest);
  if (`at(${new Date(at).toISOString().slice(0, 19)})` !== text)
    return refused(`at "${text}": there is no such date or time`);
  return { ok: true, expression: { form: "at", at } };
}
