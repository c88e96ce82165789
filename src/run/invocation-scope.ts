import type { JobDefinition } from "../define/definition.ts";
import type { LoggedLine, NewJob } from "../machine/job.ts";
import type { Aftermath } from "../machine/outbox.ts";
import type { Claimed } from "../machine/store.ts";
import type { Tx } from "../machine/transaction.ts";
import type { Hold } from "./lease-keeper.ts";
import type { WorkerScope } from "./worker-scope.ts";
import type { Context } from "../define/context.ts";
import { type Moment, momentInPayload } from "../define/moment.ts";
import { scheduleLimits } from "../machine/schedule.ts";
import { cleanText } from "../machine/clean.ts";
import { failureDetailLimits } from "../machine/failure-detail.ts";
import type { Clock, Log } from "../machine/ports.ts";

/** The state that the context's methods share. Internal to the invocation. */
export interface InvocationScope {
  readonly worker: WorkerScope;
  readonly job: Claimed;
  readonly definition: JobDefinition;
  readonly hold: Pick<Hold, "interruption" | "signal">;
  /** By this process's monotonic clock; `endsMs`: when the attempt is interrupted. */
  readonly startedMs: number;
  readonly endsMs: number;
  /** Made when the handler takes `ctx.log`. */
  keptLog: KeptLog | null;
  readonly children: NewJob[];
  /** Aftermaths of the open transaction, for after its commit. */
  readonly left: Aftermath[];
  ordinal: number;
  phase: "open" | "batch" | "transaction" | "settled" | "closed";
  tx: Tx | null;
  /** Of its transaction: aborted when the attempt ends before that does. */
  abandoned: AbortController | null;
}

/** Of the job that runs now: the moment in its payload, else that of its occurrence. */
export async function momentOf(scope: InvocationScope, context: Context): Promise<Moment> {
  const { scheduledFor, isCatchUp, missedCount } = context;
  const known = momentInPayload(scope.job.payload);
  return known ?? { scheduledFor, ...(await localDayOf(scope, scheduledFor)), isCatchUp, missedCount };
}

/**
 * The zone and day of the nominal time, from its occurrence, because the schedule may have moved to another zone since; or
 * from the schedule if the occurrence was pruned.
 */
async function localDayOf({ job, worker }: InvocationScope, at: Date): Promise<Pick<Moment, "day" | "timezone">> {
  const { store } = worker.ports;
  if (job.scheduleId === null) return { day: dayIn("UTC", at), timezone: "UTC" };
  const rows = await store.occurrencesBetween(job.scheduleId, at.getTime(), at.getTime(), scheduleLimits.answersMax);
  const own = rows.find((row) => row.jobId === job.jobId);
  if (own !== undefined) return { day: own.localTime.slice(0, 10), timezone: own.timezone };
  const timezone = (await store.scheduleFacts(job.scheduleId))?.row?.spec.timezone ?? "UTC";
  return { day: dayIn(timezone, at), timezone };
}

function dayIn(timezone: string, at: Date): string {
  const parts = { timeZone: timezone, year: "numeric", month: "2-digit", day: "2-digit" } as const;
  return new Intl.DateTimeFormat("en-CA", parts).format(at);
}

interface Line {
  readonly atMs: number;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Record<string, unknown> | undefined;
}

/** The last lines of one attempt. They become text only if it fails. */
export class KeptLog {
  readonly #clock: Pick<Clock, "elapsedMs">;
  readonly #startedMs: number;
  #kept: Line[] | null = null;

  constructor(clock: Pick<Clock, "elapsedMs">, startedMs: number) {
    this.#clock = clock;
    this.#startedMs = startedMs;
  }

  /** Writes to the log that `open` gives at the first line, and keeps the line. */
  over(open: () => Log): Log {
    let opened: Log | null = null;
    const log = (): Log => (opened ??= open());
    const write = (level: Line["level"], message: string, fields: Line["fields"]): void => {
      this.#keep({ atMs: Math.max(0, Math.round(this.#clock.elapsedMs() - this.#startedMs)), level, message, fields });
      log()[level](message, fields);
    };
    return {
      debug: (message, fields) => write("debug", message, fields),
      info: (message, fields) => write("info", message, fields),
      warn: (message, fields) => write("warn", message, fields),
      error: (message, fields) => write("error", message, fields),
      child: (fields) => this.over(() => log().child(fields)),
    };
  }

  lines(): readonly LoggedLine[] {
    const kept = this.#kept ?? [];
    return kept.map(({ atMs, level, message, fields }) => ({ atMs, level, text: textOf(message, fields) }));
  }

  #keep(line: Line): void {
    this.#kept ??= [];
    if (this.#kept.push(line) > failureDetailLimits.logLinesMax) this.#kept.shift();
  }
}

/** Fields may be anything that a handler has at hand; what cannot be text must not cost the attempt its outcome. */
function textOf(message: string, fields: Line["fields"]): string {
  try {
    return cleanText(`${message} ${fieldsText(fields)}`.trimEnd(), failureDetailLimits.logLineCharactersMax);
  } catch {
    return "a line that has no text";
  }
}

function fieldsText(fields: Line["fields"]): string {
  if (fields === undefined) return "";
  try {
    return JSON.stringify(fields, (_, value: unknown) => plain(value));
  } catch {
    return "(fields that JSON cannot say)";
  }
}

const plain = (value: unknown): unknown =>
  value instanceof Error ? value.message : typeof value === "bigint" ? String(value) : value;
