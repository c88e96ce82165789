import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { migrate } from "../../src/postgres/migrate.ts";
import { installTestClock } from "../../src/postgres/test-clock.ts";
import { installEventCheck } from "./event-check.ts";
import { databaseOf, runOnce } from "../../src/testing/server.ts";
import { isAlive } from "../../src/cli/address.ts";
import { startPostgres } from "../../src/local/services/postgres.ts";
import { onConnection } from "../../src/postgres/access.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A database of the server that only makes and drops others. */
    postgresUrl: string;
    /** Migrated, with the test clock and the event check: what every fresh database is a copy of. */
    postgresTemplate: string;
  }
}

/** Losing everything in a crash is fine here, and makes the suite several times faster. */
const settings = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_wal_size: "1GB",
  autovacuum_naptime: "1h",
  shared_buffers: "256MB",
};

/** vitest's global set-up: one server for the whole run, `DATABASE_URL` or one of our own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["DATABASE_URL"];
  const own = given === undefined || given === "" ? await startThrowawayServer() : null;
  const url = own?.url ?? given ?? "";
  const template = `belfry_template_${process.pid}_${project.name}`;
  await runOnce(url, `create database ${template}`);
  await migrateTemplate(databaseOf(url, template));
  project.provide("postgresUrl", url);
  project.provide("postgresTemplate", template);
  return async () => {
    if (own === null) await dropAll(url, template);
    else await own.stop();
  };
}

const memory = "/dev/shm";
/** What the servers of one run may need at most. */
const memoryMin = 6e9;

const prefix = "belfry-test-";

/** What runs that were killed have left would take memory until the machine starts again. */
function removeLeft(): void {
  for (const name of readdirSync(memory).filter((each) => each.startsWith(prefix))) {
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    if (pid > 0 && !isAlive(pid)) rmSync(join(memory, name), { recursive: true, force: true });
  }
}

/** In memory where there is much of it: a database is a copy of 600 files, 0.02 s of CPU there and 0.3 s on a disk. */
function serverFolder(): string {
  const room = existsSync(memory) ? statfsSync(memory) : { bavail: 0, bsize: 0 };
  const isRoomy = room.bavail * room.bsize > memoryMin;
  if (isRoomy) removeLeft();
  const folder = mkdtempSync(join(isRoomy ? memory : tmpdir(), `${prefix}${process.pid}-`));
  // The server runs as another user where we are root.
  chmodSync(folder, 0o755);
  return folder;
}

export async function startThrowawayServer(
  over: Readonly<Record<string, string>> = {},
): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = serverFolder();
  const server = await startPostgres({ folder, port: 0, settings: { ...settings, ...over } });
  return {
    url: server.url,
    async stop() {
      await server.stop("immediate");
      rmSync(server.dataFolder, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function migrateTemplate(url: string): Promise<void> {
  await migrate({ url });
  await onConnection({ url }, async (client) => {
    await installTestClock(client, { thisIsATestDatabase: true });
    await installEventCheck(client);
  });
}

/** The template and what was made from it, on a server that is not ours. */
const dropAll = (url: string, template: string): Promise<void> =>
  onConnection({ url }, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select datname as name from pg_database where starts_with(datname, $1)",
      [template],
    );
    for (const { name } of rows) await client.query(`drop database if exists "${name}" with (force)`);
  });
