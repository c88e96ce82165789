import { hostname } from "node:os";
import { openArchive } from "../src/adapters/archive/open.ts";
import { writeBatch } from "../src/adapters/archive/write-batch.ts";
import { eventSink } from "../src/adapters/events/sink.ts";
import { createMarks } from "../src/api/marks.ts";
import { redactedLine } from "../src/api/redacted-rows.ts";
import { type Config, readConfig } from "../src/config.ts";
import { webhookSecret } from "../src/settings.ts";
import { measureHealth } from "../src/core/admin/measure-health.ts";
import { type EventSink, publishing } from "../src/core/admin/publish.ts";
import { upkeep } from "../src/core/admin/upkeep.ts";
import { ProblemsFound } from "../src/core/define/problem.ts";
import type { ArchivedRow } from "../src/core/ports/archive.ts";
import { type Archiving, archiving } from "../src/core/scheduler/archive.ts";
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
    const report = await passWithUpkeep(config, runtime, await archiveOf(config, runtime), signal);
    print("pass", report);
    return exitCodes[report.outcome];
  } finally {
    await runtime.close();
  }
}

async function passWithUpkeep(
  config: Config,
  { ports, registry, operations, secrets }: Runtime,
  archive: Archiving | null,
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
  const leaving = archive === null ? null : archiving(ports, archive, ended.signal);
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
    await Promise.all([tidying, sending, leaving]);
  }
}

/** @throws ProblemsFound where the stage archives and the process does not know where: nothing would ever leave. */
async function archiveOf(
  { archive: place, archives, stage: { name: stage } }: Config,
  { registry, archiveSource, operations, ports: { clock } }: Runtime,
): Promise<Archiving | null> {
  if (!archives) return null;
  if (place === null) {
    const rule = `is needed: the stage "${stage}" archives what it prunes`;
    const fix = "set it to s3://BUCKET or file:///FOLDER";
    throw new ProblemsFound([{ thing: "setting", field: "BELFRY_ARCHIVE", value: "(missing)", rule, fix }]);
  }
  const store = await openArchive(place);
  const marks = createMarks(registry.jobs.values(), { secrecy: operations, clock });
  return {
    source: archiveSource,
    async write(batch) {
      const kinds = await marks();
      const shown = (row: ArchivedRow): string => redactedLine(row, kinds);
      return await writeBatch(store, batch, { stage, shown });
    },
  };
}

function sinkOf(
  { eventSink: settings, eventBridgeEndpoint: endpoint, stage, aws }: Config,
  secret: string | undefined,
): EventSink | null {
  return settings === null ? null : eventSink(settings, { stage: stage.name, region: aws.region, endpoint, secret });
}
