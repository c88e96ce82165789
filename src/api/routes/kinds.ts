import { payloadSchema } from "../../insight/kinds.ts";
import { graphOf, isGraph } from "../../run/run-graph.ts";
import { endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { kindList, type KindReply } from "../shape/kind.ts";

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
    handle: ({ within }) => ({
      status: 200,
      body: { kinds: kinds.filter(({ id }) => within === null || within.kinds.has(id)) },
    }),
  });
}
