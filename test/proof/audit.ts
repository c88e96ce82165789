import type pg from "pg";
import type { FencedWrite } from "../invariants/evidence.ts";
import type { Fleet } from "./fleet.ts";
import type { ProofContext } from "./proof.ts";
import { startSystem, type System } from "./system.ts";

/** Of a server that listens on loopback and lives as long as the proof. */
const password = "proof";
const usersMax = 300;

/**
 * Notes every write of a scheduler with its transaction, from inside the database: each process has a database user of
 * its own. Statement triggers fire for writes that touch no row too, and those are fenced as well.
 */
const auditSql = `
do $$ begin
  for n in 1 .. ${usersMax} loop
    if not exists (select from pg_roles where rolname = 'process_' || n) then
      execute format('create role %I superuser login password %L', 'process_' || n, '${password}');
    end if;
  end loop;
end $$;
create schema if not exists proof;
create table proof.fenced (
  seq bigint generated always as identity, xid xid8 not null default pg_current_xact_id(),
  process text not null, what text not null, token bigint);
create function proof.note_write() returns trigger language plpgsql as $$
begin
  if session_user like 'process!_%' escape '!' then
    insert into proof.fenced (process, what) values (session_user, tg_table_name);
  end if;
  return null;
end $$;
create function proof.note_install() returns trigger language plpgsql as $$
begin
  insert into proof.fenced (process, what, token)
  values (session_user, 'install', new.token);
  return null;
end $$;
create trigger proof_event after insert on belfry.event for each statement execute function proof.note_write();
create trigger proof_schedule after update on belfry.schedule for each statement execute function proof.note_write();
create trigger proof_token after insert on belfry.lock_fence for each row execute function proof.note_install();
create trigger proof_raise after update on belfry.lock_fence for each row
  when (old.token is distinct from new.token) execute function proof.note_install();`;

export interface Sessions {
  /** Settings for the process of this name: a database user of its own, by which the audit knows it. */
  of(name: string): Readonly<Record<string, string>>;
  userOf(name: string): string;
}

function createSessions(databaseUrl: string): Sessions {
  const users = new Map<string, string>();
  const userOf = (name: string): string => {
    const user = users.get(name) ?? `process_${users.size + 1}`;
    users.set(name, user);
    return user;
  };
  return {
    userOf,
    of(name) {
      const url = new URL(databaseUrl);
      url.username = userOf(name);
      url.password = password;
      return { DATABASE_URL: url.href };
    },
  };
}

export interface Audited {
  readonly system: System;
  readonly sessions: Sessions;
  readonly fleet: Fleet;
  /** Before the schedule of `app/scheduled.ts` is installed. */
  readonly installedAt: number;
}

/** A schedule of each second, its workers, and a lock store behind a proxy; the case starts the scheduler tasks. */
export async function beginAudited(context: ProofContext, env: Readonly<Record<string, string>>): Promise<Audited> {
  const system = await startSystem(context, {
    app: "scheduled",
    sql: auditSql,
    proxied: ["dynamodb"],
    lane: () => ({ visibilityTimeoutSeconds: 4, concurrency: 2 }),
    env: { BELFRY_DISPATCH_WINDOW_MS: "1000", ...env },
  });
  const installedAt = Date.now();
  await system.install();
  return { system, sessions: createSessions(system.databaseUrl), fleet: system.fleet(), installedAt };
}

export interface AuditRow {
  readonly process: string;
  readonly what: string;
  readonly token: number;
  /** When it was committed, milliseconds since 1970. */
  readonly committedAt: number;
}

/** Fenced writes in the order of their commits, each with the token its process had installed by then. */
export async function readAudit(pool: pg.Pool): Promise<readonly AuditRow[]> {
  const { rows } = await pool.query<{ process: string; what: string; token: string | null; committedAt: number }>(
    `select process, what, token, (extract(epoch from pg_xact_commit_timestamp(xid::xid)) * 1000)::float8 as "committedAt"
     from proof.fenced order by pg_xact_commit_timestamp(xid::xid), seq`,
  );
  const installed = new Map<string, number>();
  return rows.map((row) => {
    if (row.token !== null) installed.set(row.process, Number(row.token));
    return { ...row, token: installed.get(row.process) ?? 0 };
  });
}

/** What the checker of C9 reads. A write by a process that had installed nothing counts as one with token 0. */
export const fencedWrites = (rows: readonly AuditRow[]): readonly FencedWrite[] =>
  rows.map(({ token }) => ({ name: "belfry:scheduler", token }));
