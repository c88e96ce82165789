import { z } from "zod";
import { causes } from "../../core/admin/explain-job.ts";
import { idText, maybeTime } from "./shape.ts";

export const jobExplanation = z
  .object({
    job: idText,
    cause: z.enum(causes),
    sentence: z.string(),
    advice: z.string().nullable(),
    until: maybeTime.describe("When it goes on, where that is known."),
    waitsFor: z.array(idText),
  })
  .meta({ id: "JobExplanation" });

export type JobExplanationReply = z.infer<typeof jobExplanation>;
