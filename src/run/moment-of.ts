import type { Context } from "../define/context.ts";
import { type Moment, momentInPayload } from "../define/moment.ts";
import { scheduleLimits } from "../machine/schedule-limits.ts";
import type { InvocationScope } from "./invocation-scope.ts";

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
