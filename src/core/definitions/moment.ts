import type { Context } from "./context.ts";
import type { Json } from "../job.ts";
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

/** Of the job that runs now. */
export function momentOf(context: Context, { job, worker }: InvocationScope): Moment {
  const { scheduledFor, isCatchUp, missedCount } = context;
  const schedule = job.scheduleId === null ? undefined : worker.registry.schedules.get(job.scheduleId);
  const app = worker.registry.apps.find((one) => schedule !== undefined && one.schedules.includes(schedule));
  const timezone = schedule?.spec(worker.options.stage, app?.name ?? "").timezone ?? "UTC";
  return { scheduledFor, day: dayIn(timezone, scheduledFor), timezone, isCatchUp, missedCount };
}

/** As JSON keeps it: for a job that goes on later, or does it again, without the schedule's occurrence. */
export const momentJson = (moment: Moment): Json => ({ ...moment, scheduledFor: moment.scheduledFor.toISOString() });

/** @returns null for what is no stored moment. */
export function readMoment(stored: Json): Moment | null {
  if (typeof stored !== "object" || stored === null) return null;
  const { scheduledFor, timezone, isCatchUp, missedCount } = stored as Readonly<Record<string, Json>>;
  const at = new Date(typeof scheduledFor === "string" ? Date.parse(scheduledFor) : Number.NaN);
  if (Number.isNaN(at.getTime()) || typeof timezone !== "string") return null;
  return {
    scheduledFor: at,
    day: dayIn(timezone, at),
    timezone,
    isCatchUp: isCatchUp === true,
    missedCount: typeof missedCount === "number" ? missedCount : 0,
  };
}

function dayIn(timezone: string, at: Date): string {
  const parts = { timeZone: timezone, year: "numeric", month: "2-digit", day: "2-digit" } as const;
  return new Intl.DateTimeFormat("en-CA", parts).format(at);
}
