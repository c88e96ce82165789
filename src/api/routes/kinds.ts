import { z } from "zod";
import type { JobDefinition } from "../../core/define/definition.ts";
import { isGraph } from "../../core/work/run-graph.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { kindList, type KindReply } from "../shape/kind.ts";
import { graphOf } from "../startable-kind.ts";

/** GET /kinds: what may be enqueued, and what its payload looks like. */
export function kindsEndpoint({ registry }: ApiOptions): Endpoint {
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
    scope: "list",
    replies: { 200: kindList },
    handle: ({ within }) => ({
      status: 200,
      body: { kinds: kinds.filter(({ id }) => within === null || within.kinds.has(id)) },
    }),
  });
}

/** Only zod says what its schemas are; `{}` stands for any other library's, null for a job that takes no payload. */
function payloadSchema({ schema }: JobDefinition): unknown {
  if (schema === null) return null;
  if (!(schema instanceof z.ZodType)) return {};
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return json;
}
