import type { Job } from "./context.ts";
import type { Duration } from "../calendar/duration.ts";
import { definitionOf } from "./define-job.ts";
import type { JobDefinition, Occurrence, ScheduleDefinition } from "./definition.ts";
import type { Json } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { checkedJson, checkPayloadNow } from "./payload.ts";
import { ProblemList, DefinitionProblems } from "./problem.ts";
import type { GapRule, OverlapReadings } from "../machine/schedule.ts";
import type { InstantText, ScheduleAfter, SchedulePolicies } from "./schedule-policy.ts";
import { type PlainOptions, specMaker, stagedSettings } from "./schedule-spec.ts";
import { checkId } from "./setting.ts";
import type { PerStage } from "./stage.ts";

/** Five fields: minute, hour, day of month, month, day of week. */
export type Cron = `${string} ${string} ${string} ${string} ${string}`;

/** AWS's own expressions, so that a schedule can move here unchanged: pass them through `aws`. */
export type AwsCron = `cron(${string})` & { readonly aws: "cron" };
export type AwsRate = `rate(${string})` & { readonly aws: "rate" };
export type AwsAt = `at(${string})` & { readonly aws: "at" };

/**
 * Marks an expression of AWS: `cron: aws("cron(0 8 ? * MON-FRI *)")`, `every: aws("rate(5 minutes)")` or
 * `at: aws("at(2026-12-31T23:59:00)")`, which is UTC. In AWS's form weekday 1 is Sunday and exactly one of the two day
 * fields is `?`. It is checked with the schedule.
 */
export function aws(text: `cron(${string})`): AwsCron;
export function aws(text: `rate(${string})`): AwsRate;
export function aws(text: `at(${string})`): AwsAt;
export function aws(text: string): string {
  return text;
}

/** When it fires: by the clock of a zone, by elapsed time, once, or after another schedule. `Given` names the fields that are there. */
export type ScheduleTime<Given = "timezone"> =
  | {
      /** Five fields, or AWS's form by `aws("cron(...)")`. */
      readonly cron: "timezone" extends Given ? Cron | AwsCron : "its timezone is missing";
      /** IANA name, like `Asia/Seoul`. Required: "every day at 8" means nothing without it. */
      readonly timezone: string;
      /** What to do with readings a clock change skips or repeats. Default `auto` for both. */
      readonly dst?: { readonly gap?: GapRule; readonly overlap?: OverlapReadings };
      readonly every?: never;
      readonly at?: never;
      readonly after?: never;
    }
  | {
      /** Elapsed time, at least 1s; knows no clock changes. May differ by stage. */
      readonly every: PerStage<Duration | AwsRate>;
      readonly cron?: never;
      readonly at?: never;
      readonly after?: never;
      readonly timezone?: never;
      readonly dst?: never;
    }
  | {
      /** Once. */
      readonly at: InstantText | AwsAt;
      readonly cron?: never;
      readonly every?: never;
      readonly after?: never;
      readonly timezone?: never;
      readonly dst?: never;
    }
  | {
      /** At each nominal time of another schedule, once that time is done. */
      readonly after: ScheduleAfter;
      readonly cron?: never;
      readonly every?: never;
      readonly at?: never;
      readonly timezone?: never;
      readonly dst?: never;
    };

/** A job without a payload is scheduled without one; every other needs a value or a function of the occurrence. */
export type PayloadFor<I> = unknown extends I
  ? { readonly payload?: unknown }
  : [I] extends [void]
    ? { readonly payload?: undefined }
    : { readonly payload: I | ((occurrence: Occurrence) => I) };

/** `Given` names the fields that are there, so that the error of a missing one is short and beside what needs it. */
export type ScheduleOptions<I, Given extends PropertyKey = "payload" | "timezone"> = {
  /** Unique among all schedules of a stage; its history is kept under this name. */
  readonly id: string;
  readonly run: "payload" extends Given ? Job<I> : object extends PayloadFor<I> ? Job<I> : "its payload is missing";
} & ScheduleTime<Given> &
  SchedulePolicies &
  PayloadFor<NoInfer<I>> &
  // For inference alone: it requires nothing, and allows nothing more.
  (string extends Given ? { readonly [name in Given]: unknown } : unknown);

/** Defines when a job runs. Never throws: problems are collected, and `check` shows all of them together. */
export function defineSchedule<I, Given extends PropertyKey = "payload" | "timezone">(
  options: ScheduleOptions<I, Given>,
): ScheduleDefinition {
  const problems = new ProblemList(`schedule "${options.id}"`);
  checkId(problems, "id", options.id);
  const job = definitionOf(options.run as Job<I>, `schedule "${options.id}": run`);
  const plain: PlainOptions = options;
  const fixed = fixedPayload(plain.payload, job, problems);
  const { specFor, notes } = specMaker(plain, job, fixed, problems);
  return {
    is: "schedule",
    id: options.id,
    job,
    spec(stage, app) {
      if (problems.found.length > 0) throw new DefinitionProblems(problems.found);
      return specFor(stage, app);
    },
    problems: problems.found,
    notes,
    staged: stagedSettings(plain),
    ...(plain.payload === undefined
      ? {}
      : { payload: (at) => (typeof plain.payload === "function" ? plain.payload(at) : plain.payload) }),
    ...(plain.after === undefined ? {} : { after: plain.after.schedule }),
  };
}

/**
 * Checks a plain payload now, in the JSON form that a handler will get. A computed payload is checked at each occurrence.
 */
export function fixedPayload(payload: unknown, job: JobDefinition, problems: ProblemList): Json {
  if (typeof payload === "function") return null;
  try {
    const stored = checkedJson(job.id, payload);
    if (job.seal !== null && stored !== null)
      problems.add("payload", "(value)", "would be stored as it is, and its job seals it", "return it from a function");
    const checked = checkPayloadNow(job.schema ?? undefined, stored);
    if (checked?.ok === true) checkKey(checked.value, job, problems);
    for (const issue of checked?.ok === false ? checked.issues : []) {
      const field = issue.path === "" ? "payload" : `payload.${issue.path}`;
      problems.add(
        field,
        payload,
        `does not fit job "${job.id}": ${issue.message}`,
        "change the payload or the schema",
      );
    }
    return stored;
  } catch (error) {
    problems.add("payload", "(value)", error instanceof Error ? error.message : String(error), "change the payload");
    return null;
  }
}

function checkKey(value: unknown, job: JobDefinition, problems: ProblemList): void {
  const key = job.key?.(value);
  if (key === undefined || (key.length > 0 && key.length <= contractLimits.keyCharactersMax)) return;
  problems.add(
    "key",
    key,
    `of this payload must be 1 to ${contractLimits.keyCharactersMax} characters, it has ${key.length}`,
    "shorten it",
  );
}
