import { z } from "zod";
import { count, time } from "./shape.ts";

/** What will be started in a span of time, all schedules together. */
export const upcoming = z
  .object({
    from: time,
    to: time,
    /** The soonest ones. */
    times: z.array(
      z.object({
        at: time,
        schedule: z.string(),
        app: z.string(),
        kind: z.string(),
        lane: z.string(),
        timezone: z.string(),
        /** It will be skipped: its schedule is paused. */
        paused: z.boolean(),
        /** Its last one has not ended, and the schedule's rule for that is not to run beside it. */
        mayOverlap: z.boolean(),
      }),
    ),
    /** Times in each of sixty equal parts of the span. */
    parts: z.array(count),
    /** Schedules fire more often than is looked at; the counts are lower bounds. */
    isMore: z.boolean(),
  })
  .meta({ id: "Upcoming" });

export type UpcomingReply = z.infer<typeof upcoming>;
