import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { readConfig } from "../src/config.ts";
import { drain } from "../src/core/drain.ts";
import { openRuntime } from "../src/runtime.ts";

const config = readConfig(process.env);
const lane = process.env["BELFRY_LANE"] ?? "default";
const runtime = await openRuntime(config, { role: "dead-letter", lane });
await runtime.checkDatabase({ patient: true });

process.once("SIGTERM", () => void runtime.close().finally(() => process.exit(0)));

/** Messages that no worker could claim: their rows decide what becomes of them. */
export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  const { failed } = await drain(runtime.ports, runtime.registry, lane, event.Records);
  runtime.ports.metrics.flush();
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
}
