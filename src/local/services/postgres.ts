import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { onConnection } from "../../postgres/access.ts";
import { freePort } from "../process/free-port.ts";
import { endChild, hasEnded } from "../process/children.ts";
import { FolderGone } from "../home.ts";
import { NotReady } from "../process/ready-child.ts";
import {
  assertSameMajor,
  handOver,
  newRecord,
  type PostgresRecord,
  programs,
  readPostgresRecord,
  unprivilegedUser,
  type User,
  writeRecord,
} from "./postgres-files.ts";
import { serverOf, stopLeftover, stopMsMax, untilReady } from "./postmaster.ts";
import { identityOf, isRunning } from "../process/operating-system.ts";

export interface PostgresOptions {
  /** Made when missing. Its content survives kill -9 of everything; deleting it gives a fresh database. */
  readonly folder: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The data must be there: a server that comes back does not begin without it. */
  readonly isKnown?: boolean;
  /** Server settings, for example `{ fsync: "off" }` where losing the data is fine. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface RunningPostgres {
  /** Of the database `belfry`, as its superuser. Loopback only. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Where the data lies: outside `folder` when we are root below a folder that other users cannot enter. */
  readonly dataFolder: string;
  /** Resolves when the server is gone. */
  stop(mode?: StopMode): Promise<void>;
  /** The process may end while the server runs. */
  unref(): void;
  /** kill -9 of the server process. Its own children end by themselves. */
  kill(): void;
  /** Resolves when the server is gone, for any reason. */
  readonly exited: Promise<void>;
}

/** `fast` disconnects clients; `immediate` is a crash with cleanup; `kill` is a crash. */
export type StopMode = "fast" | "immediate" | "kill";

const stopSignals = { fast: "SIGINT", immediate: "SIGQUIT", kill: "SIGKILL" } as const satisfies Record<
  StopMode,
  string
>;
/**
 * Not the name of Belfry's schema: `"$user"` leads the search path, so an app's unqualified tables would land in it.
 * Folders that were made under the old name keep it.
 */
const superuser = "postgres";
const superuserBefore = "belfry";

/**
 * Starts Postgres 17 on loopback. As root it runs as `postgres` or `nobody`, because Postgres refuses root.
 * A server that a killed system left behind on the same data is stopped first.
 * @throws Error when a living system uses the folder (names its pid), or when the server does not come up (shows its log);
 * FolderGone when data that must be there is not.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const user = unprivilegedUser();
  if (options.isKnown === true) assertThere(options.folder);
  mkdirSync(options.folder, { recursive: true });
  const known = readPostgresRecord(options.folder);
  if (known?.owner && isRunning(known.owner) && serverOf(known.dataFolder) !== null) {
    throw new Error(`the database in ${options.folder} is in use by process ${known.owner.pid}: stop that one first`);
  }
  await stopLeftover(known?.dataFolder);
  const bin = join(programs(user), "bin");
  const record = known ?? { ...newRecord(options.folder, user), superuser };
  writeRecord(options.folder, { ...record, owner: identityOf(process.pid) });
  if (!existsSync(join(record.dataFolder, "PG_VERSION"))) await initialize(bin, record, user);
  assertSameMajor(record, options.folder);

  const logFile = join(options.folder, "postgres.log");
  const launched = { bin, record, user, logFile, settings: options.settings ?? {} };
  const { server, port } = await launchWhenFree(options.port, launched);
  const url = `postgresql://${superuserOf(record)}:${record.password}@127.0.0.1:${port}`;
  await createDatabase(url);
  return running(server, { url: `${url}/belfry`, port, dataFolder: record.dataFolder });
}

function assertThere(folder: string): void {
  const { dataFolder } = readPostgresRecord(folder) ?? { dataFolder: folder };
  if (!existsSync(join(dataFolder, "PG_VERSION"))) throw new FolderGone(dataFolder);
}

function running(server: ChildProcess, about: { url: string; port: number; dataFolder: string }): RunningPostgres {
  return {
    ...about,
    pid: pidOf(server),
    exited: hasEnded(server) ? Promise.resolve() : once(server, "exit").then(() => {}),
    unref() {
      server.unref();
      process.off("exit", endOf(server));
    },
    kill: () => void server.kill("SIGKILL"),
    stop: (mode = "fast") => endChild(server, stopSignals[mode], stopMsMax),
  };
}

/**
 * The first start takes about a second. It works aside, so that a kill leaves no half-made folder. A killed `initdb` empties
 * its folder as it ends, so each start has one of its own.
 */
async function initialize(bin: string, record: PostgresRecord, user: User | null): Promise<void> {
  const making = `${record.dataFolder}.making`;
  const passwordFile = `${record.dataFolder}.password`;
  rmSync(record.dataFolder, { recursive: true, force: true });
  rmSync(making, { recursive: true, force: true, maxRetries: 10 });
  mkdirSync(making, { recursive: true });
  handOver(making, user);
  const aside = join(making, String(process.pid));
  mkdirSync(aside, { mode: 0o700 });
  handOver(aside, user);
  writeFileSync(passwordFile, record.password, { mode: 0o600 });
  handOver(passwordFile, user);
  const { error, output } = await runToEnd(join(bin, "initdb"), user, dirname(aside), [
    `--pgdata=${aside}`,
    `--username=${superuserOf(record)}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--no-locale",
    "--set=scram_iterations=256",
  ]);
  rmSync(passwordFile, { force: true });
  if (error !== null)
    throw new Error(`Postgres could not set up its data in ${record.dataFolder}: ${error}\n${output}`);
  renameSync(aside, record.dataFolder);
  rmSync(making, { recursive: true, force: true, maxRetries: 10 });
}

const superuserOf = (record: PostgresRecord): string => record.superuser ?? superuserBefore;

type Launched = { readonly server: ChildProcess; readonly port: number };

interface Launch {
  readonly bin: string;
  readonly record: PostgresRecord;
  readonly user: User | null;
  readonly port: number;
  readonly logFile: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Backends outlive a killed server by some milliseconds and keep its data; a port that was free may be taken by then. */
async function launchWhenFree(wanted: number, options: Omit<Launch, "port">, leftMs = 10_000): Promise<Launched> {
  const port = wanted === 0 ? await freePort() : wanted;
  const passing =
    wanted === 0 ? /pre-existing shared memory block|Address already in use/ : /pre-existing shared memory/;
  try {
    return { server: await launch({ ...options, port }), port };
  } catch (error) {
    if (leftMs <= 0 || !passing.test(String(error))) throw error;
  }
  await wait(100);
  return await launchWhenFree(wanted, options, leftMs - 100);
}

async function launch(options: Launch): Promise<ChildProcess> {
  const settings = {
    listen_addresses: "127.0.0.1",
    port: String(options.port),
    unix_socket_directories: "",
    timezone: "UTC",
    log_timezone: "UTC",
    max_connections: "200",
    ...options.settings,
  };
  const log = openSync(options.logFile, "a");
  const begin = logLength(options.logFile);
  const { dataFolder } = options.record;
  const server = spawn(
    join(options.bin, "postgres"),
    ["-D", dataFolder, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    // In a process group of its own: Ctrl-C in a terminal must not stop the database before its clients.
    {
      cwd: dataFolder,
      env: { PATH: "/usr/bin:/bin", TZ: "UTC", LC_ALL: "C", MALLOC_TRIM_THRESHOLD_: "131072" },
      stdio: ["ignore", log, log],
      detached: true,
      ...ids(options.user),
    },
  );
  closeSync(log);
  process.once("exit", endOf(server));
  server.once("exit", () => process.off("exit", endOf(server)));
  const failure = new Promise<string>((resolve) => {
    server.once("error", (error) => resolve(error.message));
    server.once("exit", (code, signal) => resolve(`it ended with ${signal ?? `code ${code}`}`));
  });
  const problem = await Promise.race([untilReady(dataFolder, server), failure]);
  if (problem === null) return server;
  const Failure = hasEnded(server) ? Error : NotReady;
  server.kill("SIGQUIT");
  const tail = readFileSync(options.logFile, "utf8").slice(begin).trim().split("\n").slice(-8).join("\n");
  throw new Failure(`Postgres did not start on port ${options.port}: ${problem}\n${tail}\nIts log: ${options.logFile}`);
}

const ends = new WeakMap<ChildProcess, () => void>();

/** In a process group of its own, a server outlives whatever ends this process unless it is ended. @returns the same each time. */
function endOf(server: ChildProcess): () => void {
  const end = ends.get(server) ?? (() => void server.kill(stopSignals.immediate));
  ends.set(server, end);
  return end;
}

const createDatabase = (url: string): Promise<void> =>
  onConnection({ url: `${url}/postgres` }, async (client) => {
    const { rowCount } = await client.query("select 1 from pg_database where datname = 'belfry'");
    if (rowCount === 0) await client.query("create database belfry");
  });

async function runToEnd(
  program: string,
  user: User | null,
  cwd: string,
  args: readonly string[],
): Promise<{ error: string | null; output: string }> {
  const child = spawn(program, args, {
    cwd,
    env: { PATH: "/usr/bin:/bin", TZ: "UTC", LC_ALL: "C" },
    stdio: ["ignore", "pipe", "pipe"],
    ...ids(user),
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const error = await new Promise<string | null>((resolve) => {
    child.once("error", (cause) => resolve(cause.message));
    child.once("close", (code, signal) => resolve(code === 0 ? null : `initdb ended with ${signal ?? `code ${code}`}`));
  });
  return { error, output };
}

const ids = (user: User | null): { uid?: number; gid?: number } =>
  user === null ? {} : { uid: user.uid, gid: user.gid };

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error("the process has no pid");
  return child.pid;
}

const logLength = (path: string): number => readFileSync(path, "utf8").length;
