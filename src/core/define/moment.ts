import type { Context } from "./context.ts";
import type { JobDefinition, Occurrence } from "./definition.ts";
import type { Json } from "../job/job.ts";
import { limits } from "../limits.ts";
import type { InvocationScope } from "../work/invocation-scope.ts";

/** The occurrence a fan-out or sweep works for. Started without a schedule: its own due time, in UTC. */
export interface Moment {
  readonly scheduledFor: Date;
  /** The date of `scheduledFor` in the schedule's zone, `YYYY-MM-DD`. */
  readonly day: string;
  readonly timezone: string;
  readonly isCatchUp: boolean;
  readonly missedCount: number;
}

/** Of the job that runs now: what its payload says, else what its occurrence does. */
export async function momentOf(context: Context, scope: InvocationScope): Promise<Moment> {
  const { scheduledFor, isCatchUp, missedCount } = context;
  const told = toldMoment(scope.job.payload);
  return told ?? { scheduledFor, ...(await clockOf(scope, scheduledFor)), isCatchUp, missedCount };
}

/**
 * The zone and the day of the nominal time, as its row has them: the schedule may have been made by people, or moved to
 * another zone since. Of a row that is not kept any more, the schedule's own zone.
 */
async function clockOf({ job, worker }: InvocationScope, at: Date): Promise<Pick<Moment, "day" | "timezone">> {
  const { store } = worker.ports;
  if (job.scheduleId === null) return { day: dayIn("UTC", at), timezone: "UTC" };
  const rows = await store.occurrencesBetween(job.scheduleId, at.getTime(), at.getTime(), limits.answersMax);
  const own = rows.find((row) => row.jobId === job.jobId);
  if (own !== undefined) return { day: own.localTime.slice(0, 10), timezone: own.timezone };
  const timezone = (await store.scheduleFacts(job.scheduleId))?.row?.spec.timezone ?? "UTC";
  return { day: dayIn(timezone, at), timezone };
}

/** The payload of a job that no tick planned but that works for a schedule all the same. */
export const momentPayload = ({ scheduledFor, day, timezone, isCatchUp, missedCount }: Occurrence): Json => ({
  moment: momentJson({ scheduledFor, day, timezone, isCatchUp, missedCount }),
});

/** @returns null for a payload that names none. */
export const toldMoment = (payload: Json): Moment | null =>
  typeof payload === "object" && payload !== null && "moment" in payload ? readMoment(payload["moment"] ?? null) : null;

/** A caller gives none; one that is told its moment, or goes on for another, has it in its payload. */
export const checkMoment: JobDefinition["check"] = async (payload) =>
  payload === null || payload === undefined || toldMoment(payload as Json) !== null
    ? { ok: true, value: payload }
    : { ok: false, issues: [{ path: "", message: "this job takes no payload: pass none" }] };

/** As JSON keeps it: for a job that goes on later, or does it again, without the schedule's occurrence. */
export const momentJson = (moment: Moment): Json => ({ ...moment, scheduledFor: moment.scheduledFor.toISOString() });

/** @returns null for what is no stored moment. */
export function readMoment(stored: Json): Moment | null {
  if (typeof stored !== "object" || stored === null) return null;
  const { scheduledFor, day, timezone, isCatchUp, missedCount } = stored as Readonly<Record<string, Json>>;
  const at = new Date(typeof scheduledFor === "string" ? Date.parse(scheduledFor) : Number.NaN);
  if (Number.isNaN(at.getTime()) || typeof day !== "string" || typeof timezone !== "string") return null;
  return {
    scheduledFor: at,
    day,
    timezone,
    isCatchUp: isCatchUp === true,
    missedCount: typeof missedCount === "number" ? missedCount : 0,
  };
}

function dayIn(timezone: string, at: Date): string {
  const parts = { timeZone: timezone, year: "numeric", month: "2-digit", day: "2-digit" } as const;
  return new Intl.DateTimeFormat("en-CA", parts).format(at);
}
