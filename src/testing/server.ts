/** One Postgres for all test systems of a process, and a migrated template to copy databases from. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onConnection } from "../postgres/access.ts";
import { migrate } from "../postgres/migrate.ts";
import type { AppDefinition } from "../define/definition.ts";
import { madeOnce } from "../machine/made-once.ts";

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Fast instead of safe: what a test writes may be lost. */
const settings = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", autovacuum_naptime: "1h" };

let own: Promise<string> | null = null;
const templates = new Map<string, Promise<string>>();
let made = 0;

/**
 * A database with Belfry's tables and those of the apps: the first of a process takes about two seconds, each later one
 * 50 ms. @param server of a Postgres to use; left out, one is started and ends with the process.
 */
export async function testDatabase(apps: readonly AppDefinition[], server: string | undefined): Promise<TestDatabase> {
  const admin = server ?? (await (own ??= startServer()));
  const folders = apps.map(({ name, migrations }) => `${name} ${migrations?.href ?? ""}`).toSorted();
  const key = createHash("sha256")
    .update(JSON.stringify([admin, folders]))
    .digest("hex")
    .slice(0, 12);
  const template = madeOnce(templates, key, () => makeTemplate(admin, key, apps));
  made += 1;
  const name = `belfry_test_${process.pid}_${made}`;
  await runOnce(admin, `create database ${name} template ${await template}`);
  return { url: databaseOf(admin, name), drop: () => runOnce(admin, `drop database if exists ${name} with (force)`) };
}

async function makeTemplate(admin: string, key: string, apps: readonly AppDefinition[]): Promise<string> {
  const name = `belfry_template_${process.pid}_${key}`;
  await runOnce(admin, `drop database if exists ${name} with (force)`);
  await runOnce(admin, `create database ${name} template template0`);
  const url = databaseOf(admin, name);
  await migrate({ url });
  for (const { name: app, migrations } of apps) {
    if (migrations !== null) await migrate({ url, app, folder: fileURLToPath(migrations) });
  }
  return name;
}

async function startServer(): Promise<string> {
  const { startPostgres } = await localPostgres();
  const folder = mkdtempSync(join(tmpdir(), "belfry-testing-"));
  const server = await startPostgres({ folder, port: 0, settings });
  // The tests decide when the process ends; the server ends with it, also after Ctrl-C.
  server.unref();
  process.once("exit", () => {
    server.kill();
    rmSync(folder, { recursive: true, force: true });
    rmSync(server.dataFolder, { recursive: true, force: true });
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      server.kill();
      process.kill(process.pid, signal);
    });
  }
  return server.url;
}

async function localPostgres(): Promise<typeof import("../local/services/postgres.ts")> {
  try {
    return await import("../local/services/postgres.ts");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    const fix = "npm install -D belfry-local, or pass databaseUrl of a Postgres for tests";
    throw new Error(`belfry/testing needs belfry-local: ${fix}`, { cause: error });
  }
}

export const databaseOf = (url: string, database: string): string => {
  const next = new URL(url);
  next.pathname = `/${database}`;
  return next.href;
};

/** One statement on a connection of its own. */
export const runOnce = (url: string, text: string): Promise<void> =>
  onConnection({ url }, async (client) => void (await client.query(text)), "belfry testing");
