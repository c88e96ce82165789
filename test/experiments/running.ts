import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Pool } from "pg";
import { readSystem } from "../../src/local/home.ts";
import { isRunning, type ProcessIdentity } from "../../src/local/process/operating-system.ts";
import { readPostgresRecord } from "../../src/local/services/postgres-files.ts";
import type { Evidence } from "../demo/judge.ts";

/** A system of `npm start -- --examples` that runs, and what it shows from outside. */
export interface RunningSystem {
  readonly api: string;
  readonly evidence: Evidence;
  /** Of its processes with this name, for example `worker taskflow`, as their records say. */
  pids(name: string): readonly number[];
}

/** @throws Error that says what is missing and how to get it. */
export function findSystem(options: {
  readonly home?: string | undefined;
  readonly url?: string | undefined;
}): RunningSystem {
  const home = resolve(options.home ?? process.env["BELFRY_HOME"] ?? ".belfry");
  const record = readSystem(join(home, "system.json"));
  if (record === null || !isRunning(record))
    throw new Error(`no system runs in ${home}: start it with npm start -- --examples, or name its folder with --home`);
  if (record.stage !== "examples" || record.api === null)
    throw new Error(
      `the system in ${home} is of stage "${record.stage}"; it must be "examples": npm start -- --examples`,
    );
  const db = new Pool({ connectionString: process.env["DATABASE_URL"] || databaseIn(home), max: 2 });
  db.on("error", () => {});
  return {
    api: (options.url ?? record.api).replace(/\/$/, ""),
    evidence: { db, ledgers: join(home, "fakes") },
    pids: (name) => pidsIn(join(home, "processes"), name),
  };
}

/** The local server's own files: its record has the password, and the fourth line of its pid file the port. */
function databaseIn(home: string): string {
  const record = readPostgresRecord(join(home, "postgres"));
  const file = join(record?.dataFolder ?? "", "postmaster.pid");
  if (record === null || !existsSync(file)) throw new Error(`no Postgres runs in ${home}: set DATABASE_URL`);
  const port = readFileSync(file, "utf8").split("\n")[3];
  return `postgresql://${record.superuser ?? "belfry"}:${record.password}@127.0.0.1:${port}/belfry`;
}

function pidsIn(folder: string, name: string): readonly number[] {
  const records = readdirSync(folder).flatMap((file) => {
    try {
      return [JSON.parse(readFileSync(join(folder, file), "utf8")) as { name: string; identity: ProcessIdentity }];
    } catch {
      // It ended while the folder was read.
      return [];
    }
  });
  return records.filter((one) => one.name === name && isRunning(one.identity)).map(({ identity }) => identity.pid);
}
