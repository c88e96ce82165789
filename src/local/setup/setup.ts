/**
 * Makes everything the definitions need, in a process of its own: the tables of Belfry and of the apps, queues and lock
 * table, slots and schedules. Run at the start and after every edit, so that each run reads the code as it is now.
 */
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { dynamodbClient } from "../../aws/lock-store.ts";
import { sqsClient } from "../../aws/sqs-client.ts";
import { DatabaseUnfit } from "../../postgres/failure.ts";
import { migrate } from "../../postgres/migrate.ts";
import { checkMigrations } from "../../postgres/migration-files.ts";
import { loadFakes } from "../../compose/apps.ts";
import { type Config, readConfig } from "../../stage/config.ts";
import { DefinitionProblems } from "../../define/problem.ts";
import { deliveryLimits } from "../../machine/delivery-limits.ts";
import { ownProject } from "../../stage/project.ts";
import { installRelease } from "../../compose/install-release.ts";
import { openRuntime, type Runtime } from "../../compose/runtime.ts";
import { loadedModules, recordLoaded } from "../../stage/loaded-files.ts";
import { keepCode, rejection } from "../code.ts";
import { readPostgresRecord } from "../services/postgres-files.ts";
import { compressTime } from "./compressed-time.ts";
import { createResources } from "./resources.ts";
import type { SetupReport } from "./run-setup.ts";
import { type DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { LockStore } from "../../machine/ports.ts";

const loadedFiles = recordLoaded();
try {
  console.log(JSON.stringify(await setUp()));
} catch (error) {
  console.log(JSON.stringify({ loaded: { files: loadedFiles(), migrations: [] } }));
  console.error(rejection(error, process.cwd()));
  process.exitCode = 1;
}

async function setUp(): Promise<SetupReport> {
  const config = readConfig(process.env, await ownProject());
  const runtime = await openRuntime(config, { role: "setup" });
  const clients = { sqs: sqsClient(config.aws), dynamodb: dynamodbClient(config.aws) };
  try {
    // Last of the project's code, so that nothing is installed of code that cannot be loaded.
    const fakes = await fakesOf(config);
    await migrateAll(config, runtime);
    const clockAheadMs = await compressTime(config.databaseUrl, {
      scale: config.timeScale,
      startsAt: config.timeStart,
    });
    const queues = await createResources(clients, runtime.topology, { timeScale: config.timeScale });
    const installed = await installRelease(runtime, {
      stage: config.stage.name,
      // What another stage of this machine left behind must not stay undecided.
      isAlone: true,
    });
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
      clockAheadMs,
      edit: editable(config, loadedFiles()),
      loaded: {
        files: loadedFiles(),
        migrations: runtime.apps.flatMap(({ migrations }) => (migrations === null ? [] : [fileURLToPath(migrations)])),
      },
      code: keepCode(process.env["BELFRY_HOME"] ?? "", loadedModules()),
      fakes,
    };
  } finally {
    await runtime.close();
    clients.sqs.destroy();
    clients.dynamodb.destroy();
  }
}

async function migrateAll(config: Config, runtime: Runtime): Promise<void> {
  const problems = checkMigrations(runtime.apps);
  if (problems.length > 0) throw new DefinitionProblems(problems);
  await migrate({ url: config.databaseUrl, cell: config.stage.cell?.number }).catch((error: unknown) => {
    const home = process.env["BELFRY_HOME"];
    const isOfHome = process.argv.includes("--database-is-ours") && home !== undefined;
    throw error instanceof DatabaseUnfit && isOfHome ? ofAnotherBuild(error, home) : error;
  });
  for (const { name, migrations } of runtime.apps) {
    if (migrations !== null) await migrate({ url: config.databaseUrl, app: name, folder: fileURLToPath(migrations) });
  }
}

/**
 * The queues of the last run were in memory and are gone, so every dispatched row has lost its message: also one
 * that is due within the dispatch window, for which the pass has no evidence yet.
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

/** The innermost one that the first app loaded. */
function editable({ project, stage }: Config, loaded: readonly string[]): string {
  const first = project.appFiles[stage.apps[0] ?? ""] ?? project.configFile;
  const own = loaded.filter((file) => file.startsWith(dirname(first) + sep));
  return relative(project.root, own.at(-1) ?? first);
}

/** Met by users who have another version now; who works on Belfry itself may have edited the file. */
function ofAnotherBuild(cause: DatabaseUnfit, home: string): DatabaseUnfit {
  const data = readPostgresRecord(join(home, "postgres"))?.dataFolder ?? home;
  // A start in a new folder of the same name removes what lies outside of it.
  const wayOut = data.startsWith(home + sep)
    ? "move the folder away"
    : `set BELFRY_HOME to a new one, as its data lies in ${data},`;
  const text =
    `the data in ${home} was made by another build of Belfry, and nothing of it was changed: start that build again, ` +
    `or ${wayOut} to begin with an empty one (${cause.message})`;
  return new DatabaseUnfit(text, { cause });
}

async function fakesOf(config: Config): Promise<SetupReport["fakes"]> {
  if (config.appModules !== null) return [];
  const fakes = await loadFakes(config.project, config.stage);
  return fakes.map(({ name, file, once }) => ({ name, file: fileURLToPath(file), once }));
}

/**
 * Releases every held lock. Only for a start, which has ended all processes of the last run: without it the first
 * scheduler task would wait a whole lease for a dead holder.
 * @returns how many were held.
 */
async function releaseLocks(client: DynamoDBClient, tableName: string, locks: LockStore): Promise<number> {
  const { Items } = await client.send(new ScanCommand({ TableName: tableName, ConsistentRead: true }));
  let released = 0;
  for (const { name, owner, fence } of Items ?? []) {
    if (name?.S === undefined || owner?.S === undefined) continue;
    if (await locks.release(name.S, owner.S, Number(fence?.N ?? 0))) released += 1;
  }
  return released;
}
