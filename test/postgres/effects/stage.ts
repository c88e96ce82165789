import type { Pool } from "pg";
import { createSession } from "../../../src/adapters/postgres/session.ts";
import type { Statement } from "../../../src/adapters/postgres/statement.ts";
import type { World } from "./tour.ts";

/** Where the clock of a tour stands at first. */
export const start = Date.parse("2026-02-28T23:00:00Z");

/** So many milliseconds after the start. */
export const at = (ms: number): string => new Date(start + ms).toISOString();

export type Row = Readonly<Record<string, unknown>>;

/** A statement of the product with arguments of the tour's own: a limit that a few rows reach, or an id that lies at a bound. */
export const send = <R>({ connections }: World, statement: Statement<R>, values: unknown[] = []): Promise<R[]> =>
  createSession(connections.main, connections.where).run(statement, values);

/** Rows that verbs would take long to bring about, written as a restore writes them: checks hold, triggers do not fire. */
export async function put(pool: Pool, table: string, rows: readonly Row[]): Promise<void> {
  const texts = rows.map((row) => {
    const names = Object.keys(row).join(", ");
    const json = `'${JSON.stringify(row).replaceAll("'", "''")}'`;
    return `insert into belfry.${table} (${names}) overriding system value
      select ${names} from jsonb_populate_record(null::belfry.${table}, ${json})`;
  });
  await change(pool, texts.join(";"));
}

/** Raw SQL of the tour itself. */
export async function change(pool: Pool, text: string): Promise<void> {
  await pool.query(`set session_replication_role = replica; ${text}; reset session_replication_role`);
}

const databaseOf = (url: string): string => new URL(url).pathname.slice(1);

/**
 * Before the first statement of a part: rows then come in the order in which they were written unless a clause asks for
 * another, and no index brings it about by chance. `more` are further ways of the planner that do.
 */
export async function withoutIndexes({ pool, url }: World, more: readonly string[] = []): Promise<void> {
  for (const way of ["indexscan", "indexonlyscan", "bitmapscan", ...more])
    await pool.query(`alter database ${databaseOf(url)} set enable_${way} = off`);
}

/**
 * Before the first statement of a part: what the server says of itself comes from these tables and functions of the schema
 * `told` instead, so that it is the same each time, and no session ends.
 */
export async function standIns({ pool, url }: World, texts: readonly string[]): Promise<void> {
  await pool.query("create schema told");
  for (const text of texts) await pool.query(text);
  await pool.query(`alter database ${databaseOf(url)} set search_path = told, pg_catalog`);
}

const ended = { SUCCESS: true, FAILED: true, CANCELED: true, SKIPPED: true } as const;

/** A job's row in one of the states, with what the table's checks demand of it. */
export function jobRow(id: number, state: string, over: Row = {}): Row {
  const isOut = state === "QUEUED" || state === "RUNNING";
  return {
    id,
    kind: "mail",
    payload: {},
    payload_hash: String.raw`\x00`,
    lane: "default",
    state,
    event_id: id,
    due_at: at(id),
    max_attempts: 4,
    lease_ms: 20_000,
    retention_ms: 60_000,
    trace: "t",
    created_at: at(-id),
    ...(isOut ? { dispatched_at: at(id) } : {}),
    ...(state === "RUNNING" ? { worker: "w", started_at: at(0), lease_id: 1, attempt: 1, generation: 1 } : {}),
    ...(state in ended ? { finished_at: at(-id) } : {}),
    ...(state === "FAILED" ? { error_code: "E_ONE", error_message: "went wrong" } : {}),
    ...over,
  };
}

export function runRow(id: number, state: string, over: Row = {}): Row {
  const isOpen = state === "RUNNING" || state === "CANCELING";
  return {
    id,
    kind: "graph",
    key: `run-${id}`,
    version: 1,
    state,
    created_at: at(-id),
    ...(isOpen ? {} : { finished_at: at(-id) }),
    ...over,
  };
}

/** A transaction's number that no server of a test reaches: it shows in the files of the tours. */
export const xid = (n: number): string => String(9_000_000_000_000 + n);

const list = (values: readonly (string | number)[]): string => `{${values.join(",")}}`;

/** An event of the transaction of the same number. */
export function eventRow(
  id: number,
  to: string,
  jobs: readonly number[],
  {
    ms = 0,
    attempts = jobs.map(() => 1),
    started = null,
    over = {},
  }: {
    readonly ms?: number;
    readonly attempts?: readonly number[];
    readonly started?: readonly number[] | null;
    readonly over?: Row;
  } = {},
): Row {
  return {
    id,
    xid: xid(id),
    at: at(ms),
    to_state: to,
    job_ids: list(jobs),
    attempts: list(attempts),
    generations: list(jobs.map((_, n) => n)),
    ...(started === null ? {} : { started_at: list(started.map((each) => at(each))) }),
    ...over,
  };
}
