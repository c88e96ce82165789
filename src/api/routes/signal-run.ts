import { z } from "zod";
import { contractLimits } from "../../machine/contract-limits.ts";
import type { JobId, RunId } from "../../machine/job.ts";
import { iso } from "../../machine/units.ts";
import { signalRun } from "../../run/signal-run.ts";
import { endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem } from "../problem.ts";
import { preparedProblem } from "../prepared-problem.ts";
import { id, text } from "../query-fields.ts";
import { ofRun } from "../scope.ts";
import { knownRun } from "./runs.ts";
import { signalReply } from "../shape/run.ts";

const signalPath = z.object({
  id,
  name: text(contractLimits.taskNameCharactersMax, "The name of the task that waits."),
});
const signalBody = z.strictObject({
  payload: z.unknown().optional().describe("What the task asks for; left out where it asks for nothing."),
});

export const signalEndpoint = (options: ApiOptions) =>
  endpoint("POST /runs/:id/signals/:name", {
    name: "signalRun",
    refuses: [
      "unknown-run",
      "unknown-signal",
      "signal-conflict",
      "not-waiting",
      "invalid-payload",
      "over-limit",
      "seal-unavailable",
    ],
    summary: "Send a run the signal that a task of it waits for",
    description:
      "The payload becomes the output of the task. A signal that comes before the task waits is kept. Each task takes one: the same payload again changes nothing and is no error, another one is refused.",
    example: { params: { id: "7", name: "approved" }, body: { payload: { by: "ada" } } },
    scope: ofRun(options),
    params: signalPath,
    body: signalBody,
    replies: { 200: signalReply },
    reply: ({ params, body, caller }) => send(options, params, { payload: body.payload, caller: caller.name }),
  });

async function send(
  { ports, registry, insight }: ApiOptions,
  { id: runId, name }: { readonly id: JobId; readonly name: string },
  { payload, caller }: { readonly payload: unknown; readonly caller: string },
): Promise<z.infer<typeof signalReply>> {
  const run = await knownRun(insight, runId);
  const target = { id: run.id as RunId, kind: run.kind };
  const result = await signalRun(ports, registry, target, { name, payload, caller }).catch((error: unknown) => {
    throw preparedProblem(error);
  });
  const shown = JSON.stringify(name);
  switch (result.is) {
    case "taken":
      return { job: result.jobId, isFirst: true };
    case "repeated":
      return { job: result.jobId, isFirst: false };
    case "unknown":
      throw new HttpProblem("unknown-signal", `no task of run ${runId} waits for the signal ${shown}`);
    case "conflict": {
      const { at, by } = result;
      // Two seals of the same payload differ, and the API cannot open what it sealed.
      const isSealed = (registry.jobs.get(`${run.kind}.${name}`)?.seal ?? null) !== null;
      const what = isSealed ? ", and what is sealed is not compared" : " with another payload";
      const detail = `the signal ${shown} came at ${iso(at)}${by === null ? "" : ` from ${by}`}${what}: a task takes one`;
      throw new HttpProblem("signal-conflict", detail, { extra: { job: result.jobId, at: iso(at), by } });
    }
    case "late": {
      const why =
        result.runState === "RUNNING" ? `job ${result.jobId} is ${result.state}` : `run ${runId} is ${result.runState}`;
      throw new HttpProblem("not-waiting", `${why}: nothing waits for the signal ${shown} any more`);
    }
  }
}
