import type { Json } from "../machine/job.ts";

/** The occurrence of a fan-out or sweep. Without a schedule: its own due time, in UTC. */
export interface Moment {
  readonly scheduledFor: Date;
  /** The date of `scheduledFor` in the schedule's zone, `YYYY-MM-DD`. */
  readonly day: string;
  readonly timezone: string;
  readonly isCatchUp: boolean;
  readonly missedCount: number;
}

/** The payload of a job that no tick planned but that belongs to a schedule. */
export const momentPayload = ({ scheduledFor, day, timezone, isCatchUp, missedCount }: Moment): Json => ({
  moment: momentJson({ scheduledFor, day, timezone, isCatchUp, missedCount }),
});

/** @returns null for a payload that names none. */
export const momentInPayload = (payload: Json): Moment | null =>
  readMoment((payload as { readonly moment?: Json } | null)?.moment);

/** Whether a fan-out or sweep accepts this payload: none, or the moment of a continuation or a trigger. */
export const isMomentPayload = (payload: unknown): boolean =>
  payload === null || payload === undefined || momentInPayload(payload as Json) !== null;

/** As JSON, for a job that continues or repeats this work without the schedule's occurrence. */
export const momentJson = (moment: Moment): Json => ({ ...moment, scheduledFor: moment.scheduledFor.toISOString() });

/** @returns null for what is no stored moment. */
export function readMoment(stored: Json | undefined): Moment | null {
  // What is no object has none of these fields.
  const { scheduledFor, day, timezone, isCatchUp, missedCount }: Readonly<Record<string, unknown>> = {
    ...(stored as object),
  };
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
