import { join } from "node:path";
import { schemaVersionOfCode } from "../../../src/postgres/schema-version.ts";
import { createQueue, type LaneQueues } from "../../../src/local/setup/resources.ts";
import { steadySql } from "../app/steady.ts";
import { startFleet } from "../fleet.ts";
import { assessSuccess, judge } from "../judge.ts";
import { numbered, startLoad } from "../load.ts";
import { migrateToNext, nextRelease, watchLocks } from "../next-release.ts";
import type { Checklist, Proof, ProofContext } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import { elapsedMs, letPass } from "../until.ts";

const phaseMs = 5_000;
/** What a worker may take to end as it was asked to. */
const stopMs = 20_000;
const lockMsMax = 1_000;
const messages = 1_000;
/** A lane's queue must have been empty for two minutes before its messages count as lost. */
const scaleDefault = 10;

/** A deploy replaces code, tables and maybe a queue while jobs come and go. */
export const upgrade: Proof = {
  name: "upgrade",
  about: "release N's workers on N+1's schema under load, beside N+1's, and back; a queue replaced with 1,000 messages",
  guards: ["expand", "resend"],
  async run(context, list) {
    if (context.without !== "resend") await roll(list, context);
    if (context.without !== "expand") await replaceQueue(list, context);
  },
};

async function roll(list: Checklist, context: ProofContext): Promise<void> {
  const system = await startInstalled(
    { ...context, folder: join(context.folder, "roll") },
    {
      app: "steady",
      sql: steadySql,
      lane: () => ({ visibilityTimeoutSeconds: 10, concurrency: 2 }),
    },
  );
  const wakes = system.wakes({ everyMs: 500, env: { BELFRY_PASS_MS: "1000" } });
  const old = system.fleet();
  const load = startLoad(system, ["calls", "books"]);
  await phase(context);
  const locks = await watchLocks(system.databaseUrl);
  const version = await migrateToNext(system.databaseUrl, join(context.folder, "migrations"));
  list.expectIs("the tables are one version ahead of the code", version, schemaVersionOfCode + 1);
  await phase(context);
  // N+1 beside N, then alone, then N started again on N+1's tables: a deployment, and its rollback.
  const next = fleetOf(system, system.queues, nextRelease);
  await phase(context);
  await old.stop(stopMs);
  await phase(context);
  const back = system.fleet();
  await phase(context);
  await next.stop(stopMs);
  await phase(context);
  await load.stop();
  await system.untilEnded(60_000);
  const waitedMs = await locks.stop();
  await wakes.stop();
  const ran = [old, next, back].map((fleet) => fleet.started("default").length);
  await back.stop(stopMs);
  const tables = await judge(list, system);
  list.expectIs("no enqueue fails", load.refused, 0);
  list.expect("each release had workers", Math.min(...ran) > 0, ran.join());
  assessSuccess(list, tables.jobs, true);
  // One that is asked to stop before it has begun ends by the signal itself.
  list.expectNone(
    "no process ends with an error or has to be killed",
    system.processes.oddEnds(({ signal }) => signal === "SIGTERM"),
  );
  list.expectNone(
    "nobody logs an error",
    system.processes.lines
      .filter(({ fields }) => fields["level"] === "ERROR")
      .map(({ message, fields }) => `${message} ${JSON.stringify(fields["error"])}`),
  );
  list.expectAtMost(`no lock is waited for, or kept from others, for more than ${lockMsMax} ms`, waitedMs, lockMsMax);
  list.figure(`${load.acknowledged.size} jobs over two releases, longest lock ${waitedMs.toFixed(0)} ms`);
  await system.stop();
}

const phase = ({ size }: ProofContext): Promise<void> => letPass(phaseMs * size);

async function replaceQueue(list: Checklist, context: ProofContext): Promise<void> {
  const scale = context.scale ?? scaleDefault;
  const system = await startInstalled(
    { ...context, folder: join(context.folder, "queue") },
    {
      app: "steady",
      scale,
      sql: steadySql,
      lane: () => ({ visibilityTimeoutSeconds: 30, concurrency: 2 }),
      env: { BELFRY_LOG_LEVEL: "warn" },
    },
  );
  const count = Math.round(messages * context.size);
  await system.enqueue("calls", numbered(count));
  const before = await messagesIn(system, system.queues);
  list.expectIs("every message is in the queue that goes", before, count);
  const queues = await replaced(system);
  const urls = Object.fromEntries(queues.map(({ lane, url }) => [lane.name, url]));
  const env = { BELFRY_QUEUE_URLS: JSON.stringify(urls) };
  const startedMs = elapsedMs();
  const wakes = system.wakes({ everyMs: 0, env });
  const fleet = fleetOf(system, queues, env);
  await system.untilEnded(120_000).catch(() => {});
  const seconds = (elapsedMs() - startedMs) / 1_000;
  await wakes.stop();
  await fleet.stop();
  const left = await system.openJobs();
  list.expectIs("every job ends", left, 0);
  const tables = await judge(list, system, left === 0 ? {} : { endedBefore: 0 });
  assessSuccess(list, tables.jobs, true);
  list.figure(`${count} messages gone with their queue, all run ${seconds.toFixed(0)} s later (scale ${scale})`);
  await system.stop();
}

/** What CloudFormation does when a queue's properties force it: a new one, and the old one is deleted. */
async function replaced(system: System): Promise<readonly LaneQueues[]> {
  return Promise.all(
    system.queues.map(async (queues) => {
      const { url } = await createQueue(system.sqs, `${queues.lane.queueName}-next`, {
        VisibilityTimeout: String(queues.lane.visibilityTimeoutSeconds),
      });
      await system.sqs.call("DeleteQueue", { QueueUrl: queues.url });
      return { ...queues, url };
    }),
  );
}

const fleetOf = (system: System, queues: readonly LaneQueues[], env: Readonly<Record<string, string>>) =>
  startFleet({ processes: system.processes, sqs: system.sqs, queues, env: { ...system.env, ...env } }, {});

async function messagesIn(system: System, queues: readonly LaneQueues[]): Promise<number> {
  const depths = await Promise.all(queues.map(({ url }) => system.depth(url)));
  return depths.reduce((sum, { visible, inFlight }) => sum + visible + inFlight, 0);
}
