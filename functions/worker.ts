import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { readConfig } from "../src/stage/config.ts";
import { createLaneGate } from "../src/run/claim.ts";
import { createWorker } from "../src/run/worker.ts";
import { workerLimits } from "../src/run/worker-limits.ts";
import manifest from "../package.json" with { type: "json" };
import { ownProject } from "../src/stage/project.ts";
import { writeWorker } from "../src/insight/workers.ts";
import { openRuntime } from "../src/compose/runtime.ts";
import { keepWhileStopped } from "../src/compose/debugged.ts";
import { endPredecessor, endSpent, hasFiles, workerPrefix } from "../src/compose/worker-process.ts";

// One runtime a process: what is opened here serves every later invocation of the same sandbox.
const config = readConfig(process.env, await ownProject());
const lane = process.env["BELFRY_LANE"] ?? "default";
const runtime = await openRuntime(config, { role: "worker", lane });
await runtime.checkDatabase({ patient: true });
const id = `${workerPrefix(lane, process.pid)}${runtime.ports.random.id().slice(0, 8)}`;
await endPredecessor(runtime.ports, { lane, worker: id });
keepWhileStopped(config.databaseUrl, id);
// For display only: a worker whose version was not written works all the same.
void runtime.insight
  .run(writeWorker, { id, lane, version: manifest.version, logGroup: logGroupOf(process.env) })
  .catch((error: unknown) => runtime.ports.log.warn("the worker's version was not written", { error }));
const worker = createWorker(runtime.ports, runtime.registry, {
  worker: id,
  lane,
  stage: config.stage.name,
  gate: createLaneGate({ ...runtime.ports, lane }),
});

/** Lambda names its log group; elsewhere there is none. */
function logGroupOf({ AWS_REGION: region, AWS_LAMBDA_LOG_GROUP_NAME: group }: NodeJS.ProcessEnv): string | null {
  return region === undefined || group === undefined ? null : `${region}:${group}`;
}

process.once("SIGTERM", () => {
  void worker
    .stop(workerLimits.shutdownMs)
    .then(() => runtime.close())
    .finally(() => process.exit(0));
});

/** One batch of a lane. Answers with the messages to give back; what became of the others is in their rows. */
export async function handler(
  event: SQSEvent,
  context: { getRemainingTimeInMillis(): number },
): Promise<SQSBatchResponse> {
  // The sandbox ends in the machine's time, and the worker counts in the system's, which may be compressed.
  const remainingMs = (): number => context.getRemainingTimeInMillis() * config.timeScale;
  const stale = await runtime.secrets.refresh();
  if (stale !== null) runtime.ports.log.warn("secrets were not read again; the last ones are used", { error: stale });
  const { failed } = await worker.handle(event.Records, { remainingMs });
  if (worker.isSpent || !hasFiles()) await endSpent(runtime.ports, id);
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
}

/** Called by the local system only, after the messages were deleted. */
export const afterAcknowledge = async (): Promise<void> => runtime.ports.crashPoint?.("acked");
