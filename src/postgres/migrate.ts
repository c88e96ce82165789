import type { Client } from "pg";
import { postgresLimits } from "./postgres-limits.ts";
import { onConnection } from "./access.ts";
import { parseAddress } from "./address.ts";
import { stepIds } from "./cell-store.ts";
import { beginEpoch } from "./epoch.ts";
import { toStoreError, DatabaseUnfit } from "./failure.ts";
import { type MigrationFile, migrationFiles, ownFolder } from "./migration-files.ts";
import { turnPartitions } from "./prune-store.ts";
import { assertServer, expands, ownSet, tooNew } from "./schema-version.ts";
import type { Session } from "./session.ts";
import { raiseSequences, readEpoch } from "./sql/epoch.ts";
import * as sql from "./sql/migration.ts";
import { execute } from "./statement.ts";

export interface MigrateOptions {
  readonly url: string;
  /** Whose tables: an app's name, with its folder. Left out: Belfry's own. */
  readonly app?: string;
  readonly folder?: string;
  /** A copy of its disks took this server's place: a new epoch begins, which a restore in time or a move begins by itself. */
  readonly isRestored?: boolean;
  /** Ids tell this cell from now on: 0 to 63. Once set it never changes. */
  readonly cell?: number | undefined;
  readonly ca?: string;
  /** Called once; replaces the password in the URL. */
  readonly password?: () => Promise<string>;
}

export interface Migrated {
  /** Names of the files applied now; none when everything was there. */
  readonly applied: readonly string[];
  /** Of the database: the number of its newest file. */
  readonly version: number;
  /** Names of files that a newer release applied and this code has not; all of them only expand the tables. */
  readonly newer: readonly string[];
  /** The number of the epoch that began now, because the database was restored or moved; null when none did. */
  readonly epoch: number | null;
}

/**
 * Applies the missing files of one folder, each in its own transaction, one runner at a time. A database that a newer
 * release has only expanded is left as it is: that is how a release is rolled back.
 * @throws Error when the URL is not one of Postgres; DatabaseUnfit when an applied file was edited or is missing, or the database is newer than
 * this code in another way; nothing is applied then.
 */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  const files = migrationFiles(options.folder ?? ownFolder);
  const set = options.app ?? ownSet;
  parseAddress(options.url);
  const work = async (client: Client): Promise<Migrated> => {
    const migrated = await migrateOn(client, set, files, options.isRestored === true);
    const { cell } = options;
    if (cell !== undefined && set === ownSet)
      await inTransaction(client, "the ids of a cell", () => stepIds(client, cell));
    return migrated;
  };
  return await onConnection(options, work, "belfry migrate");
}

async function migrateOn(
  client: Client,
  set: string,
  files: readonly MigrationFile[],
  isRestored: boolean,
): Promise<Migrated> {
  await assertServer(client);
  await execute(client, sql.lockMigrations);
  await execute(client, sql.createLedger);
  const known = await execute(client, sql.readLedger, [set]);
  assertSame(set, known, files);
  const missing = files.slice(known.length);
  for (const file of missing) await apply(client, set, file);
  const epoch = set === ownSet ? await turnEpoch(client, isRestored) : null;
  if (set === ownSet) await turnPartitions(sessionOn(client), new Set(), { drops: false });
  const newer = known.slice(files.length).map(({ name }) => name);
  return { applied: missing.map((file) => file.name), version: Math.max(known.length, files.length), newer, epoch };
}

/** Notices a restored or moved database, before a process does. @returns the number of the epoch that began now. */
async function turnEpoch(client: Client, isRestored: boolean): Promise<number | null> {
  const [known] = await execute(client, readEpoch);
  if (known?.is_here === true && !isRestored) return null;
  return await inTransaction(client, "the new epoch", async () => {
    await execute(client, raiseSequences);
    return (await beginEpoch(client, { isRestored }))?.number ?? null;
  });
}

function assertSame(
  set: string,
  known: readonly { number: number; name: string; checksum: string }[],
  files: readonly MigrationFile[],
): void {
  if (!known.slice(files.length).every(expands)) throw tooNew(set, known.length, files.length);
  for (const [index, applied] of known.slice(0, files.length).entries()) {
    const file = files[index];
    if (file === undefined || file.name !== applied.name) {
      throw new DatabaseUnfit(
        `migration "${applied.name}" of ${set} was applied to this database but its file is missing: restore it`,
      );
    }
    if (file.checksum !== applied.checksum) {
      throw new DatabaseUnfit(
        `migration "${file.name}" of ${set} was edited after it was applied: ` +
          "restore it and write a new file, or begin with an empty database",
      );
    }
  }
}

async function apply(client: Client, set: string, file: MigrationFile): Promise<void> {
  await inTransaction(client, `migration "${file.name}" of ${set}`, async () => {
    await client.query(`set local lock_timeout = ${postgresLimits.migrationLockMs}`);
    await client.query(file.sql);
    await execute(client, sql.recordMigration, [set, file.number, file.name, file.checksum]);
  });
}

async function inTransaction<T>(client: Client, what: string, work: () => Promise<T>): Promise<T> {
  try {
    await client.query("begin");
    const value = await work();
    await client.query("commit");
    return value;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw toStoreError(error, what);
  }
}

/** Partition steps are single statements, so the runner's own connection is session enough. */
const sessionOn = (client: Client): Pick<Session, "run" | "fenced"> => ({
  run: (statement, values) => execute(client, statement, values),
  fenced: (_fence, statement, values) => execute(client, statement, values),
});
