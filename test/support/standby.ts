import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { readPostgresRecord, writeRecord } from "../../src/local/services/postgres-files.ts";
import { type RunningPostgres, startPostgres } from "../../src/local/services/postgres.ts";

interface Served {
  readonly folder: string;
  readonly server: RunningPostgres;
}

/** A hot standby that follows a running server by streaming; `pg_promote()` on it ends its recovery. */
export async function startStandby(
  of: Served,
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningPostgres> {
  await baseCopy(of, folder, "standby.signal");
  const { username, password, port } = new URL(of.server.url);
  const source = `host=127.0.0.1 port=${port} user=${username} password=${password}`;
  return await startPostgres({ folder, port: 0, settings: { ...settings, primary_conninfo: source } });
}

/** A base backup of a running server, which recovers when it is started: as a standby, or up to a target. */
export async function baseCopy(
  of: Served,
  folder: string,
  signal: "standby.signal" | "recovery.signal",
): Promise<void> {
  const client = new Client({ connectionString: of.server.url });
  await client.connect();
  try {
    await client.query("select pg_backup_start('standby', fast => true)");
    const data = copyData(of.folder, folder);
    const { rows } = await client.query<{ label: string }>(
      "select labelfile as label from pg_backup_stop(wait_for_archive => false)",
    );
    for (const file of ["postmaster.pid", "postmaster.opts"]) rmSync(join(data, file), { force: true });
    const { uid, gid } = statSync(data);
    for (const [name, text] of Object.entries({ backup_label: rows[0]?.label ?? "", [signal]: "" })) {
      writeFileSync(join(data, name), text);
      chownSync(join(data, name), uid, gid);
    }
  } finally {
    await client.end();
  }
}

/** The data of one folder under another, ready to be started there. @returns where the copy lies. */
export function copyData(from: string, to: string): string {
  const record = readPostgresRecord(from);
  if (record === null) throw new Error(`there is no server in ${from}`);
  const data = `${record.dataFolder}-${to.replaceAll(/[^\w]/g, "_")}`;
  // With its owner, who is not root. Files of a running server may vanish under way, which is no failure of its backup.
  execFileSync("sh", ["-c", 'cp -a "$0" "$1" 2>/dev/null || test -f "$1/PG_VERSION"', record.dataFolder, data]);
  mkdirSync(to, { recursive: true });
  writeRecord(to, { ...record, dataFolder: data, owner: null });
  return data;
}
