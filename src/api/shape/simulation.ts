import { z } from "zod";
import { count, time } from "../../insight/atoms.ts";

export const pileUp = z.object({
  from: time,
  drainsAt: time.describe("When the last job that waited starts."),
  over: count.describe("Jobs that wait for a place at once, at the most."),
  overAt: time,
  longestWaitMs: z.number().min(0),
});

/** What the schedules will do in days to come, if nothing is missed and each job takes as long as usual. */
export const simulation = z
  .object({
    from: time,
    to: time,
    times: count.describe("That start a job."),
    percentile: z.enum(["p50", "p95"]),
    unmeasured: z
      .object({ kinds: z.array(z.string()), countAsMs: z.number() })
      .describe("Kinds that have not run for a week, and how long a job of them is taken to run."),
    minutes: z.array(z.object({ at: time, times: count })).describe("Those in which the most are due, the most first."),
    lanes: z.array(
      z.object({
        lane: z.string(),
        times: count,
        workMs: z.number().min(0),
        capacity: count.nullable().describe("Jobs at once; null for a lane of another release that was not given one."),
        pileUps: z.array(pileUp).describe("When more are due than it runs at once."),
        isMore: z.boolean(),
      }),
    ),
    clockChanges: z.array(
      z.object({ timezone: z.string(), at: time, from: z.string().describe("By its clock."), to: z.string() }),
    ),
    notRun: z
      .array(
        z.object({
          schedule: z.string(),
          localTime: z.string(),
          nominalAt: time,
          outcome: z.enum(["SKIPPED", "COALESCED"]),
          reason: z.string().nullable(),
          calendar: z.string().nullable(),
        }),
      )
      .describe("Times without a job: excluded, skipped or merged by a clock change."),
    moved: z
      .array(z.object({ schedule: z.string(), localTime: z.string(), nominalAt: time, calendar: z.string() }))
      .describe("Times that a calendar moves to another day."),
    isMore: z.boolean().describe("`notRun` and `moved` are the first of more."),
  })
  .meta({ id: "Simulation" });

export type SimulationReply = z.infer<typeof simulation>;
