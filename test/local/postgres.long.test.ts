import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect, it, onTestFinished } from "vitest";
import { keepPostgres } from "../../src/local/services/kept-postgres.ts";
import { newRecord, removePostgres, unprivilegedUser, writeRecord } from "../../src/local/services/postgres-files.ts";
import { type RunningPostgres, startPostgres } from "../../src/local/services/postgres.ts";
import { identityOf } from "../../src/local/process/operating-system.ts";
import { freshFolder } from "./folder.ts";
import { until } from "./until.ts";

async function begin(folder: string): Promise<RunningPostgres> {
  const postgres = await startPostgres({ folder, port: 0 });
  onTestFinished(() => postgres.stop("immediate"));
  return postgres;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows.map((row) => Object.values(row)[0]);
  } finally {
    await client.end();
  }
}

it("keeps what was committed when it is killed, and starts again on it", async () => {
  const folder = join(freshFolder(), "postgres");
  const first = await begin(folder);
  await query(first.url, "create table kept as select 42 as n");
  first.kill();
  await first.exited;
  const second = await begin(folder);
  expect(await query(second.url, "select n from kept")).toEqual([42]);
  expect(second.pid).not.toBe(first.pid);
});

it("starts again beside a backend that outlives its killed server", async () => {
  const folder = join(freshFolder(), "postgres");
  const first = await begin(folder);
  const client = new Client({ connectionString: first.url });
  client.on("error", () => {});
  await client.connect();
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const pid = rows[0]?.pid ?? 0;
  process.kill(pid, "SIGSTOP");
  first.kill();
  await first.exited;
  const second = begin(folder);
  const log = (): string => readFileSync(join(folder, "postgres.log"), "utf8");
  await until("Postgres to refuse its data", async () => log().includes("pre-existing shared memory block")).finally(
    () => process.kill(pid, "SIGCONT"),
  );
  expect(await query((await second).url, "select 42 as n")).toEqual([42]);
  await client.end().catch(() => {});
});

it("keeps an app's unqualified tables out of our schema", async () => {
  const { url } = await begin(join(freshFolder(), "postgres"));
  await query(url, "create schema belfry");
  await query(url, "create table job as select 42 as n");
  const tables = "select schemaname from pg_tables where tablename = 'job'";
  expect(await query(url, tables)).toEqual(["public"]);
});

it("starts a folder that was made when its user was called belfry, as that user", async () => {
  const folder = join(freshFolder(), "postgres");
  mkdirSync(folder, { recursive: true });
  const record = newRecord(folder, unprivilegedUser());
  writeRecord(folder, record);
  const { url } = await begin(folder);
  expect(await query(url, "select current_user")).toEqual(["belfry"]);
});

it("refuses data of another major version, and says what to do", async () => {
  const folder = join(freshFolder(), "postgres");
  mkdirSync(folder, { recursive: true });
  const record = newRecord(folder, unprivilegedUser());
  mkdirSync(record.dataFolder, { recursive: true });
  writeFileSync(join(record.dataFolder, "PG_VERSION"), "16\n");
  writeRecord(folder, record);
  await expect(begin(folder)).rejects.toThrow(
    /was written by Postgres 16, and Postgres 17 is installed: .*DATABASE_URL/,
  );
});

it("listens on loopback only, asks for its password, and keeps UTC", async () => {
  const { url } = await begin(join(freshFolder(), "postgres"));
  expect(await query(url, "show listen_addresses")).toEqual(["127.0.0.1"]);
  expect(await query(url, "show timezone")).toEqual(["UTC"]);
  const wrong = url.replace(/:[^:@]+@/, ":wrong@");
  await expect(query(wrong, "select 1")).rejects.toThrow("password authentication failed");
});

it("ends a server whose system was killed, and takes over its data", async () => {
  const folder = join(freshFolder(), "postgres");
  const program = `
    import { startPostgres } from ${JSON.stringify(new URL("../../src/local/services/postgres.ts", import.meta.url).href)};
    const { pid } = await startPostgres({ folder: ${JSON.stringify(folder)}, port: 0 });
    console.log(pid);
    setInterval(() => {}, 1000);`;
  const system = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void system.kill("SIGKILL"));
  const [line] = (await once(system.stdout, "data")) as [Buffer];
  const left = Number(line.toString());
  await expect(startPostgres({ folder, port: 0 })).rejects.toThrow(`in use by process ${system.pid}`);
  system.kill("SIGKILL");
  await once(system, "exit");
  expect(identityOf(left)).not.toBeNull();
  const postgres = await begin(folder);
  expect(identityOf(left)).toBeNull();
  expect(await query(postgres.url, "select 1")).toEqual([1]);
});

it("says what its log says when it cannot start", async () => {
  const folder = join(freshFolder(), "postgres");
  await expect(startPostgres({ folder, port: 0, settings: { shared_buffers: "lots" } })).rejects.toThrow(
    /did not start on port \d+: it ended with code 1[\s\S]*shared_buffers/,
  );
});

it.runIf(process.getuid?.() === 0)(
  "runs as root below a folder that others cannot enter, with its data outside",
  async () => {
    const closed = join(freshFolder(), "closed");
    mkdirSync(closed, { mode: 0o700 });
    const folder = join(closed, "postgres");
    onTestFinished(() => removePostgres(folder));
    const first = await begin(folder);
    expect(first.dataFolder.startsWith(folder)).toBe(false);
    await query(first.url, "create table kept ()");
    await first.stop();
    const second = await begin(folder);
    expect(await query(second.url, "select to_regclass('kept') is not null")).toEqual([true]);
    await second.stop();
    rmSync(folder, { recursive: true });
    const fresh = await begin(folder);
    expect(await query(fresh.url, "select to_regclass('kept') is not null")).toEqual([false]);
    expect(existsSync(second.dataFolder)).toBe(false);
  },
);

it("comes back on its address when it crashes, and stays away after a stop", async () => {
  const folder = join(freshFolder(), "postgres");
  const died: unknown[] = [];
  const postgres = await keepPostgres({ folder, port: 0 }, (error) => died.push(error));
  onTestFinished(() => postgres.stop("immediate"));
  await query(postgres.url, "create table kept as select 42 as n");
  const { pid } = postgres;
  postgres.kill();
  await until("its return", () => postgres.pid !== pid, 30_000);
  expect(await query(postgres.url, "select n from kept")).toEqual([42]);
  expect(died.map(String)).toEqual([expect.stringContaining(`(pid ${pid}) ended`)]);
  await postgres.stop();
  expect(identityOf(postgres.pid)).toBeNull();
});

it("is stopped also in the middle of its return", async () => {
  const folder = join(freshFolder(), "postgres");
  const postgres = await keepPostgres({ folder, port: 0 }, () => {});
  const { pid: killed } = postgres;
  postgres.kill();
  await until("the return of the server process", () => {
    const file = join(postgres.dataFolder, "postmaster.pid");
    const pid = existsSync(file) ? Number(readFileSync(file, "utf8").split("\n")[0]) : 0;
    return pid > 0 && pid !== killed && identityOf(pid) !== null;
  });
  await postgres.stop();
  expect(identityOf(postgres.pid)).toBeNull();
  expect(existsSync(join(postgres.dataFolder, "postmaster.pid"))).toBe(false);
});
