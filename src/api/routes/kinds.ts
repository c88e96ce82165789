import { z } from "zod";
import { count } from "../../insight/atoms.ts";
import { payloadSchema } from "../../insight/kinds.ts";
import { graphOf, isGraph } from "../../run/run-graph.ts";
import { endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";

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

export function kindsEndpoint({ registry }: ApiOptions) {
  const kinds = registry.apps.flatMap(({ name, jobs }) =>
    jobs.map((each): KindReply => {
      const graph = graphOf(registry, each.id);
      return {
        id: each.id,
        app: name,
        lane: each.lane,
        startable: graph === null,
        graph,
        makesRun: isGraph(each) || each.body.is === "fanOut",
        timeoutMs: each.timeoutMs,
        maxAttempts: each.retry.maxAttempts,
        concurrency: each.concurrency,
        payload: payloadSchema(each),
      };
    }),
  );
  return endpoint("GET /kinds", {
    name: "listKinds",
    summary: "The kinds of this release, with the JSON Schema of each payload",
    description:
      "Every kind of this release with the JSON Schema of its payload. `startable` is false for a task: its graph is started instead.",
    scope: "list",
    replies: { 200: kindList },
    reply: ({ within }) => ({ kinds: kinds.filter(({ id }) => within.hasKind(id)) }),
  });
}
