import { statement } from "../statement.ts";

/** One runner at a time, for the whole session. Locks: an advisory lock. */
export const lockMigrations = statement<never>("migration-lock")(
  "select pg_advisory_lock(hashtextextended('belfry.migration', 0))",
);

/** The table of what was applied. Runs under the lock. */
export const createLedger = statement<never>("migration-ledger")(`
do $$ begin
  create schema if not exists belfry;
  create table if not exists belfry.migration (
    set        text not null,
    number     int not null,
    name       text not null,
    checksum   text not null,
    applied_at timestamptz not null default now(),
    primary key (set, number)
  );
end $$`);

export const readLedger = statement<{ number: number; name: string; checksum: string }>("migration-applied")(
  "select number, name, checksum from belfry.migration where set = $1 order by number",
);

export const recordMigration = statement<never>("migration-record")(
  "insert into belfry.migration (set, number, name, checksum) values ($1, $2, $3, $4)",
);

/** Null when there is no ledger at all. Locks nothing. */
export const ledgerExists = statement<{ exists: boolean }>("migration-exists")(
  "select to_regclass('belfry.migration') is not null as exists",
);

export const readVersion = statement<{ version: number }>("migration-version")(
  "select coalesce(max(number), 0)::int as version from belfry.migration where set = $1",
);

/** What a server must be, in one look. Locks nothing. */
export const readServer = statement<{ version: number; synchronous_commit: string; read_only: string }>("server")(`
select current_setting('server_version_num')::int as version, current_setting('synchronous_commit') as synchronous_commit,
  current_setting('transaction_read_only') as read_only`);
