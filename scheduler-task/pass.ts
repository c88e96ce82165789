import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { openArchive } from "../src/aws/archive/open.ts";
import { writeBatch } from "../src/aws/archive/write-batch.ts";
import { eventSink } from "../src/aws/events/sink.ts";
import { createMarks } from "../src/api/shown.ts";
import { redactedLine } from "../src/api/redacted.ts";
import { type Config, readConfig } from "../src/stage/config.ts";
import { webhookSecret } from "../src/stage/settings.ts";
import { type EventSink, publishing } from "../src/insight/publish.ts";
import { upkeep } from "../src/insight/upkeep.ts";
import { measureHealth } from "../src/insight/measure-health.ts";
import { DatabaseUnavailable } from "../src/postgres/failure.ts";
import { DefinitionProblems } from "../src/define/problem.ts";
import type { ArchivedRow } from "../src/insight/archive.ts";
import { type Archiving, archiving } from "../src/insight/write-archive.ts";
import { type PassReport, runPasses } from "../src/schedule/pass.ts";
import { ownProject } from "../src/stage/project.ts";
import { openRuntime, type Runtime } from "../src/compose/runtime.ts";
import { exitCodes, print } from "./report.ts";

/** How long a service keeps its connections and the secrets that it has read. */
const openMsMax = 840_000;

/** Takes the lock and makes passes until the time is over or the signal comes; upkeep and the publisher go on beside them. */
export const pass = (signal: AbortSignal): Promise<number> => opened((once) => once(signal));

/**
 * One pass after the other until the signal comes. A database that is away is waited for, because another task would find the
 * same; every other failure ends the task, so that a deployment of it fails.
 */
export async function serve(signal: AbortSignal): Promise<number> {
  const { passMs } = readConfig(process.env, await ownProject());
  while (!signal.aborted) {
    const openedMs = performance.now();
    let begunMs = openedMs;
    // Where another task held the lock, its time is not over yet. A timer that keeps the process: AbortSignal.timeout does not.
    const untilNext = async (): Promise<void> => {
      const leftMs = passMs - (performance.now() - begunMs);
      if (leftMs > 0) await wait(leftMs, undefined, { signal }).catch(() => {});
      begunMs = performance.now();
    };
    try {
      await opened(async (once) => {
        do {
          await once(signal);
          await untilNext();
        } while (!signal.aborted && performance.now() - openedMs < openMsMax);
      });
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      console.error(error.message);
      await untilNext();
    }
  }
  return exitCodes.done;
}

/** @param work gets what makes passes for the time of one task, and answers its exit code. */
async function opened<T>(work: (once: (signal: AbortSignal) => Promise<number>) => Promise<T>): Promise<T> {
  const config = readConfig(process.env, await ownProject());
  const runtime = await openRuntime(config, { role: "scheduler" });
  try {
    await runtime.checkDatabase();
    const archive = await archiveOf(config, runtime);
    return await work(async (signal) => {
      const report = await passWithUpkeep(config, runtime, archive, signal);
      print("pass", report);
      return exitCodes[report.outcome];
    });
  } finally {
    await runtime.close();
  }
}

async function passWithUpkeep(
  config: Config,
  { ports, registry, insight, tally, secrets }: Runtime,
  archive: Archiving | null,
  signal: AbortSignal,
): Promise<PassReport> {
  const owner = `${hostname()}:${process.pid}`;
  const { onLockOutage, lockLeaseMs } = config;
  const ended = new AbortController();
  const sink = sinkOf(config, secrets.get(webhookSecret));
  const sending =
    sink === null ? null : publishing(ports, insight, { sink, owner: `${owner}:publisher`, signal: ended.signal });
  const tidying = upkeep(
    { ports, registry, insight, tally },
    {
      owner,
      signal: ended.signal,
    },
  );
  const leaving = archive === null ? null : archiving(ports, archive, ended.signal);
  try {
    const report = await runPasses(ports, registry, {
      owner,
      untilMs: config.passMs,
      onLockOutage,
      lockLeaseMs,
      signal,
    });
    if (report.outcome === "done") await measureHealth(ports, insight, registry);
    return report;
  } finally {
    ended.abort();
    await Promise.all([tidying, sending, leaving]);
  }
}

/** @throws DefinitionProblems where the stage archives and the process does not know where: nothing would ever leave. */
async function archiveOf(
  { archive: place, archives, stage: { name: stage } }: Config,
  { registry, archiveSource, insight, ports: { clock } }: Runtime,
): Promise<Archiving | null> {
  if (!archives) return null;
  if (place === null) {
    const rule = `is needed: the stage "${stage}" archives what it prunes`;
    const fix = "set it to s3://BUCKET or file:///FOLDER";
    throw new DefinitionProblems([{ thing: "setting", field: "BELFRY_ARCHIVE", value: "(missing)", rule, fix }]);
  }
  const store = await openArchive(place);
  const marks = createMarks(registry.jobs.values(), { insight, clock });
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
