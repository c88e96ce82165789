import { hostname } from "node:os";
import { eventSink } from "../src/adapters/events/sink.ts";
import { type Config, readConfig } from "../src/config.ts";
import { webhookSecret } from "../src/settings.ts";
import { measureHealth } from "../src/core/admin/measure-health.ts";
import { type EventSink, publishing } from "../src/core/admin/publish.ts";
import { upkeep } from "../src/core/admin/upkeep.ts";
import { type PassReport, runPasses } from "../src/core/scheduler/pass.ts";
import { ownProject } from "../src/project.ts";
import { openRuntime, type Runtime } from "../src/runtime.ts";
import { exitCodes, print } from "./report.ts";

/** Takes the lock and makes passes until the time is over or the signal comes; upkeep and the publisher go on beside them. */
export async function pass(signal: AbortSignal): Promise<number> {
  const config = readConfig(process.env, await ownProject());
  const runtime = await openRuntime(config, { role: "scheduler" });
  try {
    await runtime.checkDatabase();
    const report = await passWithUpkeep(config, runtime, signal);
    print("pass", report);
    return exitCodes[report.outcome];
  } finally {
    await runtime.close();
  }
}

async function passWithUpkeep(
  config: Config,
  { ports, registry, operations, secrets }: Runtime,
  signal: AbortSignal,
): Promise<PassReport> {
  const owner = `${hostname()}:${process.pid}`;
  const { onLockOutage, lockLeaseMs } = config;
  const ended = new AbortController();
  const sink = sinkOf(config, secrets.get(webhookSecret));
  const sending =
    sink === null ? null : publishing(ports, operations, { sink, owner: `${owner}:publisher`, signal: ended.signal });
  const tidying = upkeep(ports, registry, operations, {
    owner,
    stage: config.stage.name,
    signal: ended.signal,
  });
  try {
    const report = await runPasses(ports, registry, {
      owner,
      stage: config.stage.name,
      untilMs: config.passMs,
      onLockOutage,
      lockLeaseMs,
      signal,
    });
    if (report.outcome === "done") await measureHealth(ports, operations, registry);
    return report;
  } finally {
    ended.abort();
    await Promise.all([tidying, sending]);
  }
}

function sinkOf(
  { eventSink: settings, eventBridgeEndpoint: endpoint, stage, aws }: Config,
  secret: string | undefined,
): EventSink | null {
  return settings === null ? null : eventSink(settings, { stage: stage.name, region: aws.region, endpoint, secret });
}
