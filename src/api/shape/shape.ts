/** Building blocks of what the API answers. Members are only ever added; times are ISO 8601 in UTC. */
import { iso } from "../../core/job/units.ts";
import { z } from "zod";
import { type ProblemCode, problemCodes } from "../problem-codes.ts";
import { states } from "../../core/job/state.ts";

export const time = z.iso.datetime();
export const maybeTime = time.nullable();
export const count = z.int().min(0);
export const idText = z.string().regex(/^\d{1,19}$/);
export const state = z.enum(states);
export const failure = z.object({ code: z.string(), message: z.string().nullable() }).nullable();

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.enum(Object.keys(problemCodes) as [ProblemCode, ...ProblemCode[]]),
    detail: z.string(),
    requestId: z.string().describe("As in the header `x-request-id`, the audit and the log."),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .catchall(z.unknown())
  .meta({ id: "Problem" });

export const maybeIso = (instant: number | null): string | null => (instant === null ? null : iso(instant));
