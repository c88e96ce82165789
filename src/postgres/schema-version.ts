/** What every process asks of its database. No migrations are loaded here: bundlers of web servers would look for their files. */
import type { Tx } from "../machine/transaction.ts";
import { DatabaseUnfit } from "./failure.ts";
import * as sql from "./sql/migration.ts";
import { execute } from "./statement.ts";

export const ownSet = "belfry";

/** Such a file only adds what older code can ignore; its name promises it. */
export const expands = ({ name }: { readonly name: string }): boolean => /^\d+_expand_/.test(name);

/** The version of Belfry's tables in this database; 0 when there are none. */
export async function schemaVersion(tx: Tx): Promise<number> {
  const [found] = await execute(tx, sql.ledgerExists);
  if (found?.exists !== true) return 0;
  const [row] = await execute(tx, sql.readVersion, [ownSet]);
  return row?.version ?? 0;
}

/** The number of Belfry's newest migration. In code, because a bundle has no files beside it. */
export const schemaVersionOfCode = 9;

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

export const tooNew = (set: string, version: number, known: number): DatabaseUnfit =>
  new DatabaseUnfit(
    `the database is at schema version ${version} of ${set}, this code knows ${known}: ` +
      "deploy the newer code, or use a database of this version; an older release goes only with files named NNNN_expand_...",
  );
