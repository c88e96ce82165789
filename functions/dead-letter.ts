import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { readConfig } from "../src/stage/config.ts";
import { drain } from "../src/run/drain.ts";
import { ownProject } from "../src/stage/project.ts";
import { openRuntime } from "../src/compose/runtime.ts";

const config = readConfig(process.env, await ownProject());
const own = process.env["BELFRY_LANE"];
const runtime = await openRuntime(config, { role: "dead-letter", ...(own === undefined ? {} : { lane: own }) });
await runtime.checkDatabase({ patient: true });
/** Names by queue, where one function serves all lanes. */
const lanes = new Map(
  Object.entries(JSON.parse(process.env["BELFRY_DEAD_LETTER_LANES"] ?? "{}") as Record<string, string>).map(
    ([lane, queueArn]) => [queueArn, lane],
  ),
);

process.once("SIGTERM", () => void runtime.close().finally(() => process.exit(0)));

/** Messages that no worker could claim: their rows decide what becomes of them. A batch is of one queue. */
export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  const lane = own ?? lanes.get(event.Records[0]?.eventSourceARN ?? "") ?? "default";
  const { failed } = await drain(runtime.ports, runtime.registry, event.Records, { lane });
  runtime.ports.metrics.flush();
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
}
