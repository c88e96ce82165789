import type { Context } from "../define/context.ts";
import type { JobDefinition } from "../define/definition.ts";
import type { Json } from "../machine/job.ts";
import type { InvocationScope } from "./invocation-scope.ts";
import { runFanOut } from "./run-fan-out.ts";
import { runTask, startGraph } from "./run-graph.ts";
import { runSweep } from "./run-sweep.ts";

/** Runs the definition's body. A fan-out, sweep or graph starter writes its outcome in its own transaction. */
export async function runBody(
  scope: InvocationScope,
  { body }: JobDefinition,
  payload: unknown,
  context: Context,
): Promise<Json | void> {
  switch (body.is) {
    case "handler":
      return await body.run(payload, context);
    case "task":
      return await runTask(scope, body, context);
    case "graph":
    case "dataGraph":
      return await startGraph(scope, context);
    case "fanOut":
      return await runFanOut(scope, body, context);
    case "sweep":
      return await runSweep(scope, body, context);
  }
}
