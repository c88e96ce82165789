/**
 * Makes everything the definitions need, in a process of its own: the tables of Belfry and of the apps, queues and lock
 * table, slots and schedules. Run at the start and after every edit, so that each run reads the code as it is now.
 */
import { fileURLToPath } from "node:url";
import { dynamodbClient, sqsClient } from "../../adapters/aws/endpoint.ts";
import { migrate } from "../../adapters/postgres/migrate.ts";
import { loadStandIns } from "../../apps.ts";
import { type Config, readConfig } from "../../config.ts";
import { installDefinitions } from "../../core/scheduler/install-schedules.ts";
import { deliveryLimits } from "../../core/ports/delivery-limits.ts";
import { DatabaseUnfit } from "../../adapters/postgres/failure.ts";
import { ProblemsFound } from "../../core/define/problem.ts";
import { openRuntime, type Runtime } from "../../runtime.ts";
import { compressTime } from "./compressed-time.ts";
import { releaseLocks } from "./release-locks.ts";
import { createResources } from "./resources.ts";
import type { SetupReport } from "./setup-report.ts";

try {
  console.log(JSON.stringify(await setUp()));
} catch (error) {
  console.error(error instanceof ProblemsFound || error instanceof DatabaseUnfit ? error.message : error);
  process.exitCode = 1;
}

async function setUp(): Promise<SetupReport> {
  const config = readConfig(process.env);
  const runtime = await openRuntime(config, { role: "setup" });
  const clients = { sqs: sqsClient(config.aws), dynamodb: dynamodbClient(config.aws) };
  try {
    await migrateAll(config, runtime);
    await compressTime(config.databaseUrl, { scale: config.timeScale, startsAt: config.timeStart });
    const queues = await createResources(clients, runtime.topology, { timeScale: config.timeScale });
    const installed = await installDefinitions(runtime.ports, runtime.registry, { stage: config.stage.name });
    if (process.argv.includes("--holders-are-gone")) {
      const table = config.lockTable ?? runtime.topology.lock.tableName;
      await releaseLocks(clients.dynamodb, table, runtime.ports.locks);
    }
    const requeued = process.argv.includes("--queues-are-new") ? await requeueAll(runtime) : 0;
    return {
      topology: runtime.topology,
      queues,
      jobs: runtime.registry.jobs.size,
      schedules: installed.schedules,
      differences: installed.differences.map(({ message }) => message),
      requeued,
      standIns: await standInsOf(config),
    };
  } finally {
    await runtime.close();
    clients.sqs.destroy();
    clients.dynamodb.destroy();
  }
}

async function migrateAll(config: Config, runtime: Runtime): Promise<void> {
  await migrate({ url: config.databaseUrl });
  for (const { name, migrations } of runtime.apps) {
    if (migrations !== null) await migrate({ url: config.databaseUrl, app: name, folder: fileURLToPath(migrations) });
  }
}

/**
 * The queues of the last run were in memory and are gone, so every row that waits for a message has lost it: also one
 * that is due only within the dispatch window, which the pass's own evidence would leave for later.
 */
async function requeueAll(runtime: Runtime): Promise<number> {
  let rows = 0;
  for (const { name: lane } of runtime.topology.lanes) {
    for (let page: number = deliveryLimits.requeueRowsMax; page === deliveryLimits.requeueRowsMax; rows += page) {
      page = await runtime.ports.store.requeueLost({
        lane,
        evidence: "queue-empty",
        olderThanMs: -2 * deliveryLimits.queueDelayMsMax,
        limit: deliveryLimits.requeueRowsMax,
      });
    }
  }
  return rows;
}

async function standInsOf(config: Config): Promise<SetupReport["standIns"]> {
  if (config.appModules !== null) return [];
  const standIns = await loadStandIns(config.stage);
  return standIns.map(({ name, file, env, once }) => ({ name, file: fileURLToPath(file), env, once }));
}
