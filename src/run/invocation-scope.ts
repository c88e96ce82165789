import type { JobDefinition } from "../define/definition.ts";
import type { NewJob } from "../machine/job.ts";
import type { Aftermath } from "../machine/outbox.ts";
import type { Claimed } from "../machine/store.ts";
import type { Tx } from "../machine/transaction.ts";
import type { KeptLog } from "./kept-log.ts";
import type { Hold } from "./lease-keeper.ts";
import type { WorkerScope } from "./worker-scope.ts";
import type { Context } from "../define/context.ts";
import { type Moment, momentInPayload } from "../define/moment.ts";
import { scheduleLimits } from "../machine/schedule.ts";

/** The state that the context's methods share. Internal to the invocation. */
export interface InvocationScope {
  readonly worker: WorkerScope;
  readonly job: Claimed;
  readonly definition: JobDefinition;
  readonly hold: Pick<Hold, "interruption" | "signal">;
  readonly keptLog: KeptLog;
  readonly children: NewJob[];
  /** Aftermaths of the open transaction, for after its commit. */
  readonly left: Aftermath[];
  ordinal: number;
  phase: "open" | "transaction" | "settled" | "closed";
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
