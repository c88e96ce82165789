import { z } from "zod";
import { count } from "../../insight/atoms.ts";

const kind = z
  .object({
    id: z.string(),
    app: z.string(),
    lane: z.string(),
    startable: z.boolean().describe("False for a task of a graph."),
    graph: z.string().nullable().describe("The graph that it is a task of."),
    makesRun: z.boolean().describe("Its job starts a run: a graph or a fan-out."),
    timeoutMs: z.number().min(0),
    maxAttempts: count,
    concurrency: count.nullable().describe("Jobs of it at once; null: no cap."),
    payload: z.unknown().describe("JSON Schema of the payload; null: none is taken; `{}`: not known."),
  })
  .meta({ id: "Kind" });

export const kindList = z.object({ kinds: z.array(kind) }).meta({ id: "KindList" });
export type KindReply = z.infer<typeof kind>;
