/** Brings the database to this release: invoked by the deployment, before anything of the release runs. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type DatabaseAuth, databasePassword } from "../src/aws/database-password.ts";
import { endTasks } from "../src/aws/end-tasks.ts";
import { ecsClient } from "../src/aws/task-launcher.ts";
import { type AccessOptions, applicationRole, ensureDatabaseRoles, grantOwnRows } from "../src/postgres/access.ts";
import { createCellStore } from "../src/postgres/cell-store.ts";
import { openConnections } from "../src/postgres/connect.ts";
import { migrate, type Migrated } from "../src/postgres/migrate.ts";
import { createSession } from "../src/postgres/session.ts";
import { createLog } from "../src/aws/telemetry/log.ts";
import { type Config, readConfig } from "../src/stage/config.ts";
import { type CellMap, checkCellMap } from "../src/machine/cell-map.ts";
import { ownProject } from "../src/stage/project.ts";
import { installRelease } from "../src/compose/install-release.ts";
import { openRuntime } from "../src/compose/runtime.ts";

/** What CloudFormation's provider framework sends. */
interface ReleaseEvent {
  readonly RequestType: "Create" | "Update" | "Delete";
  readonly PhysicalResourceId?: string;
  /** By hand, never by CloudFormation: a copy of the database's disks took its place. */
  readonly Restored?: boolean;
}

/** What `belfry cells` sends: the cell map to install, or null to read. */
interface CellEvent {
  readonly CellMap: CellMap | null;
}

interface CellAnswer {
  readonly map: CellMap | null;
  readonly isInstalled: boolean;
}

interface ReleaseAnswer {
  readonly PhysicalResourceId: string;
  readonly Data?: Readonly<Record<string, string>>;
}

const physicalId = "belfry-migration";

const lookMs = 5_000;
/** A task may take two minutes to stop; the function has ten. */
const endMsMax = 480_000;

/** A release that goes leaves the tables: they hold what was promised. A throw fails the deployment. */
export async function handler(event: CellEvent): Promise<CellAnswer>;
export async function handler(event: ReleaseEvent): Promise<ReleaseAnswer>;
export async function handler(event: ReleaseEvent | CellEvent): Promise<ReleaseAnswer | CellAnswer> {
  if ("CellMap" in event) return await exchangeCellMap(event);
  if (event.RequestType === "Delete") {
    await endOwnTasks();
    return { PhysicalResourceId: event.PhysicalResourceId ?? physicalId };
  }
  const config = readConfig(process.env, await ownProject());
  const ca = authoritiesOf(config);
  const target = accessBy(config, config.databaseUrl, config.databaseAuth, ca);
  const runtime = await openRuntime(config, { role: "setup" });
  try {
    const administrators = administratorsOf(config, ca);
    const hasRoles = administrators.length > 0;
    if (hasRoles) {
      const { apiConnections } = runtime.topology.database;
      const made = await ensureDatabaseRoles({ owner: target, administrators, apiConnections });
      if (made) runtime.ports.log.info("the administrator made the roles", { apiConnections });
    }
    const own = await migrate({
      ...target,
      isRestored: event.Restored === true,
      cell: config.stage.cell?.number,
    });
    report("belfry", own);
    for (const { name, migrations } of runtime.apps) {
      if (migrations === null) continue;
      report(name, await migrate({ ...target, app: name, folder: fileURLToPath(migrations) }));
    }
    if (hasRoles) await grantOwnRows(target, applicationRole);
    const { schedules, differences } = await installRelease(runtime, { stage: config.stage.name });
    for (const { message } of differences) runtime.ports.log.info("a schedule changed", { message });
    return { PhysicalResourceId: physicalId, Data: { Version: String(own.version), Schedules: String(schedules) } };
  } finally {
    await runtime.close();
  }

  function report(name: string, { applied, version, newer, epoch }: Migrated): void {
    runtime.ports.log.info("migrated", { name, applied, version });
    if (epoch !== null) runtime.ports.log.warn("the database was restored or moved: a new epoch begins", { epoch });
    // What CloudFormation asks for when it rolls a release back, and a deployment of an older commit.
    if (newer.length > 0) runtime.ports.log.warn("this release is older than the database", { name, newer, version });
  }
}

async function exchangeCellMap({ CellMap: map }: CellEvent): Promise<CellAnswer> {
  const config = readConfig(process.env, await ownProject());
  const access = accessBy(config, config.databaseUrl, config.databaseAuth, authoritiesOf(config));
  const { main, where, close } = openConnections({ ...access, applicationName: "belfry cells" });
  try {
    const store = createCellStore(createSession(main, where));
    const isInstalled = map !== null && (await store.install(checkCellMap(map)));
    return { map: await store.map(), isInstalled };
  } finally {
    await close();
  }
}

/**
 * By now no rule starts one, and the cluster goes next. What fails here is only logged: the cluster then says what it still has.
 */
async function endOwnTasks(): Promise<void> {
  const cluster = process.env["BELFRY_CLUSTER"];
  if (!cluster) return;
  const { aws, logLevel } = readConfig(process.env, await ownProject());
  const log = createLog({ service: "setup", level: logLevel });
  const client = ecsClient(aws);
  try {
    const stopped = await endTasks(client, cluster, { lookMs, signal: AbortSignal.timeout(endMsMax) });
    log.info("no task is left in the cluster", { cluster, stopped });
  } catch (error) {
    log.error("tasks may be left in the cluster", { cluster, error });
  } finally {
    client.destroy();
  }
}

/**
 * Only where the deployment made the database: an existing one has its user already. The administrator comes as the owner does,
 * by IAM, or by the secret that RDS keeps where the stage chose one.
 */
function administratorsOf(config: Config, ca: Authorities): readonly AccessOptions[] {
  const url = process.env["BELFRY_ADMIN_DATABASE_URL"];
  const arn = process.env["BELFRY_ADMIN_DATABASE_SECRET"];
  if (!url) return [];
  return [
    accessBy(config, url, config.databaseAuth, ca),
    ...(arn ? [accessBy(config, url, { kind: "secret", arn }, ca)] : []),
  ];
}

interface Authorities {
  readonly ca?: string;
}

const authoritiesOf = ({ databaseCaFile: file }: Config): Authorities =>
  file === null ? {} : { ca: readFileSync(file, "utf8") };

function accessBy(config: Config, url: string, auth: DatabaseAuth, ca: Authorities): AccessOptions {
  const password = databasePassword({ ...config, ...config.aws, auth, databaseUrl: url });
  return { url, ...ca, ...(password === null ? {} : { password }) };
}
