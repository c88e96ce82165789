import { z } from "zod";
import { count, time } from "../../insight/atoms.ts";
import { dueGroup } from "../../insight/due-soon.ts";
import { pileUp } from "./simulation.ts";

/** What will be started in a span of time, all schedules together. */
export const upcoming = z
  .object({
    from: time,
    to: time,
    /** The soonest ones. */
    times: z.array(
      z.object({
        at: time.describe("When its job is due."),
        nominalAt: time.describe("The time itself; another one than `at` where the schedule is spread."),
        schedule: z.string(),
        app: z.string(),
        kind: z.string(),
        lane: z.string(),
        timezone: z.string(),
        /** It will be skipped: its schedule is paused. */
        paused: z.boolean(),
        /** The one before has not ended, or is likely not to have by then, and the schedule's rule is not to run beside it. */
        mayOverlap: z.boolean(),
        /** The cap of its kind is full then, if the times before take as long as usual. */
        capped: z.boolean(),
      }),
    ),
    jobs: z
      .array(dueGroup.omit({ part: true }))
      .describe("Jobs that exist and wait for a time of the span: delayed ones, retries, targets written ahead."),
    /** Times and such jobs in each of sixty equal parts of the span. */
    parts: z.array(count),
    lanes: z.array(
      z.object({
        lane: z.string(),
        times: count,
        jobs: count.describe("That exist already and wait for a time of the span."),
        unknown: count.describe("Times of kinds that have not run for a week; they count as no work."),
        expectedMs: z.number().min(0).describe("Of work, by the usual duration of each kind."),
        capacityMs: z
          .number()
          .min(0)
          .nullable()
          .describe("Of all its workers; null for a lane this release does not have."),
        busiest: z
          .object({ at: time, share: z.number().min(0) })
          .nullable()
          .describe(
            "The part in which the most jobs run or wait for a place at once, of those that the lane runs at once.",
          ),
        wanted: z
          .array(count)
          .describe(
            "In each of the parts: jobs that run or wait for a place at once, at the most, of the soonest 50,000 of this span.",
          ),
        pileUp: pileUp.nullable().describe("When more are due than it runs at once: the one in which the most wait."),
      }),
    ),
    apps: z.array(z.string()).describe("Those of this release, by which it may be filtered."),
    /** Schedules fire more often, or more jobs wait, than is looked at; the counts are lower bounds. */
    isMore: z.boolean(),
  })
  .meta({ id: "Upcoming" });

export type UpcomingReply = z.infer<typeof upcoming>;
