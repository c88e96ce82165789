/** Brings the database to this release: invoked by the deployment, before anything of the release runs. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { databasePassword } from "../src/adapters/aws/database-password.ts";
import { applicationRole, createDatabaseRoles, grantOwnRows } from "../src/adapters/postgres/access.ts";
import { migrate, type Migrated } from "../src/adapters/postgres/migrate.ts";
import { type Config, readConfig } from "../src/config.ts";
import { installDefinitions } from "../src/core/scheduler/install-schedules.ts";
import { openRuntime } from "../src/runtime.ts";

/** What CloudFormation's provider framework sends. */
interface ReleaseEvent {
  readonly RequestType: "Create" | "Update" | "Delete";
  readonly PhysicalResourceId?: string;
}

interface ReleaseAnswer {
  readonly PhysicalResourceId: string;
  readonly Data?: Readonly<Record<string, string>>;
}

const physicalId = "belfry-migration";

/** A release that goes leaves the tables: they hold what was promised. A throw fails the deployment. */
export async function handler(event: ReleaseEvent): Promise<ReleaseAnswer> {
  if (event.RequestType === "Delete") return { PhysicalResourceId: event.PhysicalResourceId ?? physicalId };
  const config = readConfig(process.env);
  const ca = config.databaseCaFile === null ? {} : { ca: readFileSync(config.databaseCaFile, "utf8") };
  const hasRoles = await createRoles(config, ca);
  const password = databasePassword({ ...config, auth: config.databaseAuth, region: config.aws.region });
  const target = { url: config.databaseUrl, ...ca, ...(password === null ? {} : { password }) };
  const runtime = await openRuntime(config, { role: "setup" });
  try {
    const own = await migrate(target);
    report("belfry", own);
    for (const { name, migrations } of runtime.apps) {
      if (migrations === null) continue;
      report(name, await migrate({ ...target, app: name, folder: fileURLToPath(migrations) }));
    }
    if (hasRoles) await grantOwnRows(target, applicationRole);
    const { schedules, differences } = await installDefinitions(runtime.ports, runtime.registry, {
      stage: config.stage.name,
    });
    for (const { message } of differences) runtime.ports.log.info("a schedule changed", { message });
    return { PhysicalResourceId: physicalId, Data: { Version: String(own.version), Schedules: String(schedules) } };
  } finally {
    await runtime.close();
  }

  function report(name: string, { applied, version, newer }: Migrated): void {
    runtime.ports.log.info("migrated", { name, applied, version });
    // What CloudFormation asks for when it rolls a release back, and a deployment of an older commit.
    if (newer.length > 0) runtime.ports.log.warn("this release is older than the database", { name, newer, version });
  }
}

/** Only where the deployment made the database: an existing one has its user already. @returns whether it did. */
async function createRoles(config: Config, ca: { ca?: string }): Promise<boolean> {
  const url = process.env["BELFRY_ADMIN_DATABASE_URL"];
  const arn = process.env["BELFRY_ADMIN_DATABASE_SECRET"];
  if (!url || !arn) return false;
  const { secretsEndpoint } = config;
  const auth = { kind: "secret", arn } as const;
  const password = databasePassword({ auth, databaseUrl: url, region: config.aws.region, secretsEndpoint });
  await createDatabaseRoles({ url, ...ca, ...(password === null ? {} : { password }) });
  return true;
}
