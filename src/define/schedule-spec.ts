/** The stored form of a schedule from the options that code or a person gives: read once, all problems together. */
import { parseAt, parseRate } from "../calendar/aws-cron.ts";
import { parseCron } from "../calendar/cron.ts";
import { readCalendars } from "./calendar-rule.ts";
import type { CatchUp, ScheduleAfter, SchedulePolicies } from "./schedule-policy.ts";
import type { JobDefinition } from "./definition.ts";
import type { Json } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { slotKeysOf } from "./new-job.ts";
import type { ProblemList } from "./problem.ts";
import {
  type Expression,
  type GapRule,
  type Launch,
  type Misfire,
  type OverlapReadings,
  overlapRules,
  type ScheduleSpec,
} from "../machine/schedule.ts";
import { readObjective } from "./objective.ts";
import { contractRange, checkId, readChoice, readCount, readDuration } from "./setting.ts";
import { readSpread } from "./spread.ts";
import { mapStages, type ByStage, type PerStage, valueFor } from "./stage.ts";
import { storedTzVersion, tzVersion, zoneProblem } from "../calendar/zone.ts";

/** The same options without the types that only guide an author of definitions. */
export interface PlainOptions extends SchedulePolicies {
  readonly id: string;
  readonly cron?: string | undefined;
  readonly timezone?: string | undefined;
  readonly dst?: { readonly gap?: GapRule; readonly overlap?: OverlapReadings } | undefined;
  readonly every?: PerStage<string> | undefined;
  readonly at?: string | undefined;
  readonly after?: ScheduleAfter | undefined;
  readonly payload?: unknown;
}

export interface SpecMaker {
  readonly specFor: (stage: string, app: string) => ScheduleSpec;
  /** Surprises in the expression; `check` prints them. */
  readonly notes: readonly string[];
}

/** Reads the options once and adds their problems. `specFor` may be called only when there are none. */
export function specMaker(options: PlainOptions, job: JobDefinition, payload: Json, problems: ProblemList): SpecMaker {
  const notes: string[] = [];
  const expression = readExpression(options, problems, notes);
  const stages = typeof options.every === "object" ? Object.keys(options.every) : [""];
  const expressions = stages.map(expression);
  const spreadOf = readSpread(options.spread, expressions, problems);
  const launch = mapStages<Launch | undefined, Launch>(options.launch, (value) =>
    readChoice(problems, "launch", value, { choices: ["tick", "rule"], fallback: "tick" }),
  );
  const fromCode = {
    timezone: readZone(options, problems),
    dst: {
      gap: readChoice(problems, "dst.gap", options.dst?.gap, {
        choices: ["auto", "skip", "shift", "first-valid"],
        fallback: "auto",
      }),
      overlap: readChoice(problems, "dst.overlap", options.dst?.overlap, {
        choices: ["auto", "first", "second", "both"],
        fallback: "auto",
      }),
    },
    misfire: readMisfire(options.misfire, problems),
    overlap: readChoice(problems, "overlap", options.overlap, {
      choices: overlapRules,
      fallback: "allow",
    }),
    ...readCalendars(options, problems),
    ...readDeadline(options, problems),
    ...readObjective(options.objective, { expressions, job }, problems),
    ...readPeriod(options, problems),
    payload,
    materializeBeforeMs: job.body.is === "fanOut" && options.after === undefined ? job.body.materializeBeforeMs : 0,
  } as const;
  checkReplacing(fromCode, problems);
  const specFor = (stage: string, app: string): ScheduleSpec => ({
    id: options.id,
    app,
    expression: expression(stage),
    ...fromCode,
    ...spreadOf(app, options.id),
    launch: valueFor(stage, launch) ?? "tick",
    enabled: options.enabled === undefined || valueFor(stage, options.enabled) === true,
    tzVersion: storedTzVersion(tzVersion),
    job: {
      kind: job.id,
      lane: job.lane,
      leaseMs: job.leaseMs,
      maxAttempts: job.retry.maxAttempts,
      retentionMs: job.retentionMs,
      slotKeys: slotKeysOf(job),
    },
  });
  return { specFor, notes };
}

/** Times that run although a later one has come are none that it replaces. */
function checkReplacing(
  spec: Pick<ScheduleSpec, "overlap" | "misfire" | "materializeBeforeMs">,
  problems: ProblemList,
): void {
  if (spec.overlap !== "cancel-running") return;
  const add = (why: string, fix: string) => problems.add("overlap", spec.overlap, why, fix);
  if (spec.misfire.rule === "all")
    add(
      "would cancel each missed time for the next, and misfire `all` runs them all",
      'use misfire "latest" or "skip"',
    );
  if (spec.materializeBeforeMs > 0)
    add(
      "would cancel the run before by materializeBefore too early",
      'use "queue-all", or leave materializeBefore out',
    );
}

/** Stands where none could be read: `specFor` is not called then. */
const noExpression = () => ({ form: "at", at: Number.NaN }) as const;

function readExpression(options: PlainOptions, problems: ProblemList, notes: string[]): (stage: string) => Expression {
  const given = [options.cron, options.every, options.at, options.after].filter((each) => each !== undefined);
  if (given.length !== 1) {
    problems.add("cron, every, at, after", given, "exactly one of them says when it fires", "keep one of them");
    return noExpression;
  }
  if (options.after !== undefined) return readChain(options.after, options, problems);
  if (options.cron !== undefined) return readCron(options.cron, problems, notes);
  if (options.every !== undefined) return readEvery(options.every, problems);
  return readAt(String(options.at), problems);
}

function readChain(after: ScheduleAfter, { id, misfire }: PlainOptions, problems: ProblemList): () => Expression {
  checkId(problems, "after.schedule", after.schedule);
  if (after.schedule === id)
    problems.add("after.schedule", id, "is the schedule itself", "name the schedule that it follows");
  if (misfire !== undefined) problems.add("misfire", misfire, "is that of the schedule it follows", "leave it out");
  const { chainWithinMsMin: min, chainWithinMsMax: max } = contractLimits;
  if (after.within === undefined)
    problems.add("after.within", undefined, "is required", 'say how long after its time it may be done, like "6h"');
  const withinMs = readDuration(problems, "after.within", after.within, { min, max, fallback: max });
  const on = readChoice(problems, "after.on", after.on, { choices: ["success", "end"], fallback: "success" });
  return () => ({ form: "after", schedule: after.schedule, withinMs, on });
}

function readAt(text: string, problems: ProblemList): (stage: string) => Expression {
  const aws = text.startsWith("at(") ? parseAt(text) : null;
  if (aws?.ok === true) return () => aws.expression;
  if (aws !== null) {
    problems.add("at", text, withoutSubject(aws.problem), "");
    return noExpression;
  }
  const at = readInstant("at", text, problems);
  return () => ({ form: "at", at: Number(at) });
}

function readCron(text: string, problems: ProblemList, notes: string[]): (stage: string) => Expression {
  const parsed = parseCron(text);
  if (parsed.ok) notes.push(...parsed.notes);
  else problems.add("cron", text, withoutSubject(parsed.problem), "");
  return () => ({ form: "cron", cron: text });
}

/** Of a schedule that has no value for any stage, and so is off in all. */
const everyMsUnset = 60_000;

/** A stage in which it is off needs no value; it then has the first one listed. */
function readEvery(every: PerStage<string>, problems: ProblemList): (stage: string) => Expression {
  const byStage = mapStages(every, (value, stage) =>
    readPeriodOf(stage === null ? "every" : `every.${stage}`, value, problems),
  );
  return (stage) => ({ form: "every", everyMs: valueFor(stage, byStage) ?? Object.values(byStage)[0] ?? everyMsUnset });
}

function readPeriodOf(field: string, value: string, problems: ProblemList): number {
  const bounds = { ...contractRange("everyMs"), fallback: everyMsUnset };
  if (typeof value !== "string" || !value.startsWith("rate(")) return readDuration(problems, field, value, bounds);
  const rate = parseRate(value);
  if (rate.ok) return rate.expression.everyMs;
  problems.add(field, value, withoutSubject(rate.problem), "");
  return bounds.fallback;
}

function readZone({ cron, timezone, dst }: PlainOptions, problems: ProblemList): string {
  if (cron === undefined) {
    const why = "goes with cron: `every` counts elapsed time and `at` is an instant, so no clock changes either";
    if (timezone !== undefined && timezone !== "UTC") problems.add("timezone", timezone, why, "leave it out");
    if (dst !== undefined) problems.add("dst", dst, why, "leave it out");
    return "UTC";
  }
  if (timezone === undefined) {
    problems.add("timezone", timezone, "is required with cron", 'name the IANA zone, like "Asia/Seoul" or "UTC"');
    return "UTC";
  }
  const problem = zoneProblem(timezone);
  if (problem !== null) problems.add("timezone", timezone, withoutSubject(problem), "");
  return timezone;
}

/** Removes the field and its value, with which the evaluator's problems begin. */
const withoutSubject = (problem: string): string => problem.replace(/^\w+ "[^"]*": /, "");

/** Left out of the stored form when absent, so that a deploy does not edit schedules that were stored before it existed. */
function readDeadline({ startDeadline }: SchedulePolicies, problems: ProblemList): { startDeadlineMs?: number } {
  if (startDeadline === undefined) return {};
  const bounds = { ...contractRange("startDeadlineMs"), fallback: contractLimits.startDeadlineMsMax };
  return { startDeadlineMs: readDuration(problems, "startDeadline", startDeadline, bounds) };
}

function readPeriod({ startAt, endAt }: SchedulePolicies, problems: ProblemList) {
  const start = readInstant("startAt", startAt, problems);
  const end = readInstant("endAt", endAt, problems);
  if (start !== null && end !== null && end <= start) {
    problems.add("endAt", endAt, `must be after startAt ${startAt}`, "change one of them");
  }
  return { startAt: start, endAt: end };
}

export function readInstant(field: string, text: string | undefined, problems: ProblemList): number | null {
  if (text === undefined) return null;
  const form = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;
  const instant = form.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(instant)) return instant;
  problems.add(
    field,
    text,
    "is not an instant",
    'write date, time and offset, like "2026-12-31T09:00:00+09:00" or with "Z"',
  );
  return null;
}

/** The settings that differ by stage, as they were written. */
export function stagedSettings({ every, enabled, launch }: PlainOptions): Readonly<Record<string, ByStage<unknown>>> {
  return {
    ...(typeof every === "object" ? { every } : {}),
    ...(typeof enabled === "object" ? { enabled } : {}),
    ...(typeof launch === "object" ? { launch } : {}),
  };
}

/** `latest` unless said otherwise; `all` catches up everything, a second apart. */
export function readMisfire(misfire: SchedulePolicies["misfire"], problems: ProblemList): Misfire {
  if (typeof misfire === "object") return { rule: "all", ...readCatchUp(misfire.all, problems) };
  const rule = readChoice(problems, "misfire", misfire, { choices: ["skip", "latest", "all"], fallback: "latest" });
  return { rule, maxAgeMs: null, maxCount: null, paceMs: contractLimits.catchUpPaceMsDefault };
}

function readCatchUp({ maxAge, maxCount, pace }: CatchUp, problems: ProblemList): Omit<Misfire, "rule"> {
  const age = contractRange("misfireAgeMs");
  const paces = { ...age, fallback: contractLimits.catchUpPaceMsDefault };
  return {
    maxAgeMs: readDuration(problems, "misfire.all.maxAge", maxAge, age),
    maxCount: readCount(problems, "misfire.all.maxCount", maxCount, contractRange("misfireCount")),
    paceMs: readDuration(problems, "misfire.all.pace", pace, paces),
  };
}
