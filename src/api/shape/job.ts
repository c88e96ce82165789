import { z } from "zod";
import { type State, states } from "../../machine/state.ts";
import { attempt, type attemptDetail, job, jobEvent, jobShape } from "../../insight/job.ts";
import { boundedCount, idText, maybeTime } from "../../insight/atoms.ts";
import { causes } from "../../insight/explain-job.ts";
import { waitTextNames } from "../../machine/wait-texts.ts";

export const jobList = z
  .object({
    jobs: z.array(job),
    nextCursor: z.string().nullable(),
    /** False: the search ended before it had filled the page; go on with the cursor. */
    complete: z.boolean(),
  })
  .meta({ id: "JobList" });

/** By state. `isMore`: the count stopped at its bound, or its time was over. */
export const jobCounts = z
  .object(Object.fromEntries(states.map((each) => [each, boundedCount])) as Record<State, typeof boundedCount>)
  .meta({ id: "JobCounts" });

export const jobExplanation = z
  .object({
    job: idText,
    cause: z.enum(causes),
    sentence: z.string(),
    pieces: z
      .array(z.object({ text: z.enum(waitTextNames), values: z.record(z.string(), z.union([z.string(), z.number()])) }))
      .describe("Of a job that waits: the parts of the sentence with their values, for other languages."),
    advice: z.string().nullable(),
    until: maybeTime.describe("When it goes on, where that is known."),
    waitsFor: z.array(idText),
  })
  .meta({ id: "JobExplanation" });

export const jobDetail = z
  .object({
    ...jobShape,
    attempts: z.array(attempt),
    events: z.array(jobEvent),
    explanation: jobExplanation.optional().describe("With `include=explanation`, of a job that waits."),
  })
  .meta({ id: "JobDetail" });

const { explanation: _, ...written } = jobDetail.shape;
export const createdJob = z
  .object({ created: z.boolean(), notes: z.array(z.string()), ...written })
  .meta({ id: "CreatedJob" });

export type JobReply = z.infer<typeof job>;
export type AttemptDetailReply = z.infer<typeof attemptDetail>;
export type JobDetailReply = z.infer<typeof jobDetail>;
export type JobListReply = z.infer<typeof jobList>;
export type JobCountsReply = z.infer<typeof jobCounts>;

export type JobExplanationReply = z.infer<typeof jobExplanation>;
