import { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import timers from "node:timers/promises";
import pg from "pg";
import { createPostgresStore } from "../../../src/postgres/store.ts";
import { startPostgres } from "../../../src/local/services/postgres.ts";
import { migrateTemplate } from "../../support/postgres-server.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import type { VirtualTime } from "../../support/virtual-clock.ts";
import { dispatchWindowMs, type OpenServer, type SimServer } from "../server.ts";
import { factsOf, isAtRest, newestJobs, scheduleFound } from "./facts.ts";
import { Gate } from "./gate.ts";
import { SimPool } from "./pool.ts";

/** Nothing that a run does depends on when it runs: no vacuum, no time limits, and a deadlock is found at once. */
const settings = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
  max_connections: "200",
  shared_buffers: "256MB",
  deadlock_timeout: "8ms",
};

export interface SqlServer {
  /** A database for each run. `plant` gives the text that is sent in place of a statement's: a planted fault. */
  open(options: { readonly plant?: (text: string) => string }): OpenServer;
  close(): Promise<void>;
}

/** A Postgres of its own, which ends with this process. */
export async function openSqlServer(): Promise<SqlServer> {
  const folder = mkdtempSync(join(tmpdir(), "belfry-sim-"));
  const server = await startPostgres({ folder, port: 0, settings });
  const remove = (): void => {
    rmSync(server.dataFolder, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", () => {
    server.kill();
    remove();
  });
  const admin = new pg.Pool({ connectionString: server.url, max: 2 });
  await admin.query("create database template_sim");
  await migrateTemplate(at(server.url, "template_sim"));
  await prepareTemplate(at(server.url, "template_sim"));
  let made = 0;
  return {
    open:
      ({ plant = (text) => text }) =>
      async (now, time) => {
        made += 1;
        return await openDatabase(admin, { server: server.url, name: `sim_${made}`, now, time, plant });
      },
    async close() {
      await admin.end();
      await server.stop("immediate");
      remove();
    },
  };
}

/** Time stands still but for what the run sets; the two tables that handlers write. */
async function prepareTemplate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    update belfry.test_clock set rate = 0;
    create table effect (n bigint generated always as identity, job_id bigint, attempt int);
    create table log (job_id bigint, attempt int)`);
  await client.end();
}

interface Database {
  readonly server: string;
  readonly name: string;
  readonly now: () => number;
  readonly time: VirtualTime;
  readonly plant: (text: string) => string;
}

async function openDatabase(admin: pg.Pool, { server, name, now, time, plant }: Database): Promise<SimServer> {
  await admin.query(`create database ${name} template template_sim`);
  const url = at(server, name);
  const own = new pg.Pool({ connectionString: url, max: 2 });
  own.on("error", () => {});
  const gate = new Gate({
    // A wait that is older than the search for deadlocks is none.
    waiting: async (pids) => {
      const { rows } = await admin.query<{ pid: number }>(
        `select pid from pg_locks where not granted and pid = any($1) and waitstart < clock_timestamp() - interval '24 ms'`,
        [pids],
      );
      return new Set(rows.map((row) => row.pid));
    },
  });
  let clock = 0;
  const pool = new SimPool({
    url,
    gate,
    plant,
    async setClock() {
      if (clock === now()) return;
      clock = now();
      await own.query("update belfry.test_clock set origin = to_timestamp($1::float8 / 1000), shift = '0'", [clock]);
    },
    terminate: async (pid) => void (await own.query("select pg_terminate_backend($1, 10000)", [pid])),
  });
  const real = pauseVirtually(time);
  return {
    storeOf: (process) => {
      const connections = { ...pool.of(process), where: "the simulation", close: async () => {} };
      return createPostgresStore(connections, { dispatchWindowMs });
    },
    settled: () => gate.settled(),
    isAtRest: (before) => isAtRest(own, before),
    newestJobs: (limit) => gate.perform(null, () => newestJobs(own, limit)),
    scheduleFound: (id) => gate.perform(null, () => scheduleFound(own, id)),
    facts: () => factsOf(own),
    async close() {
      real();
      await pool.close();
      await own.end();
      await admin.query(`drop database ${name} with (force)`);
    },
  };
}

/** The adapter pauses between attempts by real time and by chance: here both are the run's. @returns what undoes it. */
function pauseVirtually(time: VirtualTime): () => void {
  const before = { setTimeout: timers.setTimeout, random: Math.random };
  const random = seededRandom("pauses");
  timers.setTimeout = ((ms: number) =>
    new Promise<void>((resolve) => time.after(ms, resolve))) as typeof timers.setTimeout;
  Math.random = () => random.next();
  syncBuiltinESMExports();
  return () => {
    timers.setTimeout = before.setTimeout;
    Math.random = before.random;
    syncBuiltinESMExports();
  };
}

const at = (server: string, database: string): string => {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
};
