import { Client } from "pg";
import { postgresLimits } from "./postgres-limits.ts";
import type { Tx } from "../machine/transaction.ts";
import { parseAddress, withPassword } from "./address.ts";
import { stepIds } from "./cell-store.ts";
import { beginEpoch } from "./epoch.ts";
import { toStoreError, DatabaseUnfit, unavailable } from "./failure.ts";
import { expands, type MigrationFile, migrationFiles, ownFolder } from "./migration-files.ts";
import { turnPartitions } from "./prune-store.ts";
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

const ownSet = "belfry";

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
  const client = new Client({
    connectionString: await withPassword(options.url, options.password),
    application_name: "belfry migrate",
    ...(options.ca === undefined ? {} : { ssl: { ca: options.ca, rejectUnauthorized: true } }),
  });
  client.on("error", () => {});
  await client.connect().catch((error: unknown) => {
    throw unavailable(error, whereOf(client));
  });
  try {
    const migrated = await migrateOn(client, set, files, options.isRestored === true);
    const { cell } = options;
    if (cell !== undefined && set === ownSet)
      await inTransaction(client, "the ids of a cell", () => stepIds(client, cell));
    return migrated;
  } finally {
    await client.end();
  }
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

/** The version of Belfry's tables in this database; 0 when there are none. */
export async function schemaVersion(tx: Tx): Promise<number> {
  const [found] = await execute(tx, sql.ledgerExists);
  if (found?.exists !== true) return 0;
  const [row] = await execute(tx, sql.readVersion, [ownSet]);
  return row?.version ?? 0;
}

/** The number of Belfry's newest migration. In code, because a bundle has no files beside it. */
export const schemaVersionOfCode = 19;

/**
 * Tables newer than this code are fine while every newer file is named `NNNN_expand_...`: such a file only adds what older
 * code can ignore, so that a deploy may migrate first and replace processes one by one.
 * @throws DatabaseUnfit when the tables are older than this code, or newer in another way, with what to do.
 */
export async function assertSchema(tx: Tx): Promise<void> {
  const version = await schemaVersion(tx);
  if (version < schemaVersionOfCode) {
    throw new DatabaseUnfit(
      `the database is at schema version ${version}, this code needs ${schemaVersionOfCode}: run \`npx belfry migrate\``,
    );
  }
  if (version === schemaVersionOfCode) return;
  const newer = (await execute(tx, sql.readLedger, [ownSet])).filter((row) => row.number > schemaVersionOfCode);
  if (!newer.every(expands)) throw tooNew(ownSet, version, schemaVersionOfCode);
}

/** @throws DatabaseUnfit when the server is too old, read-only, or (unless allowed) would lose committed rows in a crash. */
export async function assertServer(
  tx: Tx,
  options: { allowLosingCommits?: boolean } = { allowLosingCommits: true },
): Promise<void> {
  const [server] = await execute(tx, sql.readServer);
  if (server === undefined) throw new DatabaseUnfit("the server does not tell its version");
  if (server.version < 150_000) {
    throw new DatabaseUnfit(`Postgres ${Math.floor(server.version / 10_000)} is too old: Belfry needs 15 or later`);
  }
  if (server.read_only === "on")
    throw new DatabaseUnfit("this Postgres is read-only: use the writer endpoint in DATABASE_URL");
  if (server.synchronous_commit === "off" && options.allowLosingCommits !== true) {
    throw new DatabaseUnfit(
      "synchronous_commit is off, so a crash of Postgres would lose jobs whose enqueue was answered: " +
        "set it to on (batching costs far less than this saves)",
    );
  }
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

const tooNew = (set: string, version: number, known: number): DatabaseUnfit =>
  new DatabaseUnfit(
    `the database is at schema version ${version} of ${set}, this code knows ${known}: ` +
      "deploy the newer code, or use a database of this version; an older release goes only with files named NNNN_expand_...",
  );

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

const whereOf = (client: Client): string => `${client.host}:${client.port}/${client.database ?? ""}`;
