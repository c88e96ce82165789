import { z } from "zod";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { ofJob } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem } from "../problem.ts";
import { id } from "../query-fields.ts";
import { attemptDetail, attemptDetailJson } from "../shape/attempt.ts";

const attemptPath = z.strictObject({
  id,
  attempt: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, "must be a number like 2")
    .transform(Number)
    .meta({ description: "Counted from 1.", as: { type: "integer", minimum: 1, maximum: 999_999_999 } }),
});

/** GET /jobs/:id/attempts/:attempt: where its time went, and what is known of its failure. */
export const attemptEndpoint = (options: ApiOptions): Endpoint =>
  endpoint("GET /jobs/:id/attempts/:attempt", {
    name: "getAttempt",
    refuses: ["unknown-attempt"],
    summary: "One attempt with its stack, causes, response and last log lines",
    scope: ofJob(options),
    params: attemptPath,
    replies: { 200: attemptDetail },
    async handle({ params }) {
      const found = await options.operations.attempt(params.id, params.attempt);
      if (found === null) {
        const rule = "it has not started, was rescued, or its history is past its retention";
        throw new HttpProblem("unknown-attempt", `job ${params.id} has no attempt ${params.attempt}: ${rule}`);
      }
      return { status: 200, body: attemptDetailJson(params.attempt, found) };
    },
  });
