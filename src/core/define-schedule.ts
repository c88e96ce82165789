import type { Duration, Job } from "./context.ts";
import { parseCron } from "./cron.ts";
import { definitionOf, schemaOf } from "./define-job.ts";
import type { JobDefinition, Occurrence, ScheduleDefinition } from "./definition.ts";
import type { Json } from "./job.ts";
import { limits } from "./limits.ts";
import { checkedJson, leaseMsOf, slotKeysOf } from "./new-job.ts";
import { ProblemList, ProblemsFound } from "./problem.ts";
import { readMisfire } from "./misfire.ts";
import type { Expression, GapRule, OverlapReadings, ScheduleSpec } from "./schedule.ts";
import { checkPayloadNow } from "./schema.ts";
import { checkId, readChoice, readDuration } from "./setting.ts";
import { type Staged, mapStages, valueFor } from "./stage.ts";
import { tzVersion, zoneProblem } from "./zone.ts";

/** Five fields: minute, hour, day of month, month, day of week. */
export type Cron = `${string} ${string} ${string} ${string} ${string}`;
/** An instant: ISO 8601 with `Z` or an offset, so that it means the same everywhere. */
export type InstantText = `${number}-${number}-${number}T${number}:${string}`;

/** When it fires: by the clock of a zone, by elapsed time, or once. */
export type When =
  | {
      readonly cron: Cron;
      /** IANA name, like `Asia/Seoul`. Required: "every day at 8" means nothing without it. */
      readonly timezone: string;
      /** What to do with readings a clock change skips or repeats. Default `auto` for both. */
      readonly dst?: { readonly gap?: GapRule; readonly overlap?: OverlapReadings };
      readonly every?: never;
      readonly at?: never;
    }
  | {
      /** Elapsed time, at least 1s; knows no clock changes. May differ by stage. */
      readonly every: Staged<Duration>;
      readonly cron?: never;
      readonly at?: never;
      readonly timezone?: never;
      readonly dst?: never;
    }
  | {
      /** Once. */
      readonly at: InstantText;
      readonly cron?: never;
      readonly every?: never;
      readonly timezone?: never;
      readonly dst?: never;
    };

export interface CatchUp {
  /** Older nominal times are SKIPPED `misfire`. */
  readonly maxAge?: Duration;
  /** The newest this many are caught up, the others SKIPPED `misfire`. */
  readonly maxCount?: number;
  /** Time between two caught-up jobs. Default 1s. */
  readonly pace?: Duration;
}

export interface SchedulePolicies {
  /** What follows nominal times nobody was awake for. Default `latest`: one job for the newest, the others COALESCED. */
  readonly misfire?: "skip" | "latest" | "all" | { readonly all: CatchUp };
  /** A fire while the job of the one before is unfinished. Default `allow`; `skip` and `queue-one` are decided when it starts. */
  readonly overlap?: "skip" | "queue-one" | "allow";
  readonly startAt?: InstantText;
  readonly endAt?: InstantText;
  /** Default true. By stage: a stage that is not named is off. */
  readonly enabled?: Staged<boolean>;
}

/** A job without a payload is scheduled without one; every other needs a value or a function of the occurrence. */
export type PayloadFor<I> = unknown extends I
  ? { readonly payload?: unknown }
  : [I] extends [void]
    ? { readonly payload?: undefined }
    : { readonly payload: I | ((occurrence: Occurrence) => I) };

export type ScheduleOptions<I> = {
  /** Unique among all schedules of a stage; its history goes by this name. */
  readonly id: string;
  readonly run: Job<I>;
} & When &
  SchedulePolicies &
  PayloadFor<NoInfer<I>>;

/** Defines when a job runs. Nothing throws here: what is wrong is collected, and `check` shows all of it together. */
export function defineSchedule<I>(options: ScheduleOptions<I>): ScheduleDefinition {
  const problems = new ProblemList(`schedule "${options.id}"`);
  checkId(problems, "id", options.id);
  const job = definitionOf(options.run);
  const plain: PlainOptions = options;
  const fixed = fixedPayload(plain.payload, job, problems);
  const toSpec = specMaker(plain, job, fixed, problems);
  return {
    id: options.id,
    job,
    spec(stage, app) {
      if (problems.found.length > 0) throw new ProblemsFound(problems.found);
      return toSpec(stage, app);
    },
    payload: (occurrence) => (typeof plain.payload === "function" ? plain.payload(occurrence) : plain.payload),
    problems: problems.found,
    staged: stagedSettings(plain),
  };
}

/** The same options without the types that only guide whoever writes a definition. */
interface PlainOptions extends SchedulePolicies {
  readonly id: string;
  readonly cron?: string | undefined;
  readonly timezone?: string | undefined;
  readonly dst?: { readonly gap?: GapRule; readonly overlap?: OverlapReadings } | undefined;
  readonly every?: Staged<Duration> | undefined;
  readonly at?: string | undefined;
  readonly payload?: unknown;
}

function specMaker(options: PlainOptions, job: JobDefinition, payload: Json, problems: ProblemList) {
  const expression = readExpression(options, problems);
  const fromCode = {
    timezone: readZone(options, problems),
    dst: {
      gap: readChoice(problems, "dst.gap", options.dst?.gap, ["auto", "skip", "shift", "first-valid"], "auto"),
      overlap: readChoice(problems, "dst.overlap", options.dst?.overlap, ["auto", "first", "second", "both"], "auto"),
    },
    misfire: readMisfire(options.misfire, problems),
    overlap: readChoice(problems, "overlap", options.overlap, ["skip", "queue-one", "allow"], "allow"),
    ...readPeriod(options, problems),
    payload,
    materializeBeforeMs: 0,
    launch: "tick",
  } as const;
  return (stage: string, app: string): ScheduleSpec => ({
    id: options.id,
    app,
    expression: expression(stage),
    ...fromCode,
    enabled: options.enabled === undefined || valueFor(stage, options.enabled) === true,
    tzVersion,
    job: {
      kind: job.id,
      lane: job.lane,
      leaseMs: leaseMsOf(job, stage),
      maxAttempts: job.retry.maxAttempts,
      retentionMs: job.retentionMs,
      slotKeys: slotKeysOf(job),
    },
  });
}

const noExpression = () => ({ form: "at", at: 0 }) as const;

function readExpression(options: PlainOptions, problems: ProblemList): (stage: string) => Expression {
  const given = [options.cron, options.every, options.at].filter((each) => each !== undefined);
  if (given.length !== 1) {
    problems.add("cron, every, at", given, "exactly one of them says when it fires", "keep one of the three");
    return noExpression;
  }
  if (options.cron !== undefined) return readCron(options.cron, problems);
  if (options.every !== undefined) return readEvery(options.every, problems);
  const at = readInstant("at", options.at, problems) ?? 0;
  return () => ({ form: "at", at });
}

function readCron(text: string, problems: ProblemList): (stage: string) => Expression {
  const parsed = parseCron(text);
  if (!parsed.ok) problems.add("cron", text, withoutSubject(parsed.problem), "");
  return () => ({ form: "cron", cron: text });
}

/** A stage it is off in may have no value of its own; it then keeps the first one listed. */
function readEvery(every: Staged<Duration>, problems: ProblemList): (stage: string) => Expression {
  const bounds = { min: limits.everyMsMin, max: limits.everyMsMax, fallback: 60_000 };
  const byStage = mapStages(every, (value, stage) =>
    readDuration(problems, stage === null ? "every" : `every.${stage}`, value, bounds),
  );
  return (stage) => ({ form: "every", everyMs: valueFor(stage, byStage) ?? Object.values(byStage)[0] ?? 60_000 });
}

function readZone({ cron, timezone }: PlainOptions, problems: ProblemList): string {
  if (cron === undefined) return "UTC";
  if (timezone === undefined) {
    problems.add("timezone", timezone, "is required with cron", 'name the IANA zone, like "Asia/Seoul" or "UTC"');
    return "UTC";
  }
  const problem = zoneProblem(timezone);
  if (problem !== null) problems.add("timezone", timezone, withoutSubject(problem), "");
  return timezone;
}

/** The evaluator's problems begin with the field and its value, which are told apart here. */
const withoutSubject = (problem: string): string => problem.replace(/^\w+ "[^"]*": /, "");

function readPeriod({ startAt, endAt }: SchedulePolicies, problems: ProblemList) {
  const start = readInstant("startAt", startAt, problems);
  const end = readInstant("endAt", endAt, problems);
  if (start !== null && end !== null && end <= start) {
    problems.add("endAt", endAt, `must be after startAt ${startAt}`, "change one of them");
  }
  return { startAt: start, endAt: end };
}

function readInstant(field: string, text: string | undefined, problems: ProblemList): number | null {
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

/**
 * A payload that is a plain value is checked now, in the JSON form in which a handler will get it; one that is computed
 * is checked at each occurrence.
 */
function fixedPayload(payload: unknown, job: JobDefinition, problems: ProblemList): Json {
  if (typeof payload === "function") return null;
  try {
    const stored = checkedJson(job.id, payload);
    const checked = checkPayloadNow(schemaOf(job), stored);
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
  if (key === undefined || (key.length > 0 && key.length <= limits.keyCharactersMax)) return;
  problems.add(
    "key",
    key,
    `of this payload must be 1 to ${limits.keyCharactersMax} characters, it has ${key.length}`,
    "shorten it",
  );
}

function stagedSettings({ every, enabled }: PlainOptions): NonNullable<ScheduleDefinition["staged"]> {
  return {
    ...(typeof every === "object" ? { every } : {}),
    ...(typeof enabled === "object" ? { enabled } : {}),
  };
}
