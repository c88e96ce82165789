import type pg from "pg";
import { contractLimits } from "../src/machine/contract-limits.ts";
import type { JobId, NewJob } from "../src/machine/job.ts";
import { aRow } from "../test/core/rows.ts";
import type { Message } from "../src/machine/outbox.ts";

/** Which of the two tables a load goes to. */
export type Where = "belfry" | "raw";

/** Columns every loaded row shares. */
const shared = `kind, payload, lane, max_attempts, lease_ms, retention_ms, trace, created_at`;
const sharedValues = `'noop', 'null'::jsonb, 'default', 4, 20000, ${contractLimits.retentionMsDefault}, 'trace', belfry.now()`;

/** What one table has and the other has not. A loaded job names no event. */
const own = {
  belfry: { columns: "event_id", values: "0", sent: "dispatched_at" },
  raw: {
    columns: "alone, payload_hash",
    values: "false, decode('74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b', 'hex')",
    sent: "handed_at",
  },
} as const;

/** Waiting rows that are due: what a relay takes. */
export async function loadWaiting(pool: pg.Pool, where: Where, rows: number): Promise<void> {
  await pool.query(
    `insert into ${where}.job (${shared}, ${own[where].columns}, state, due_at)
     select ${sharedValues}, ${own[where].values}, 'PENDING', belfry.now() - n * interval '1 ms' from generate_series(1, $1) n`,
    [rows],
  );
}

/** QUEUED rows with their messages: what a worker claims. */
export async function loadQueued(pool: pg.Pool, where: Where, rows: number): Promise<readonly Message[]> {
  const { rows: loaded } = await pool.query<{ id: JobId; generation: number }>(
    `insert into ${where}.job (${shared}, ${own[where].columns}, state, due_at, generation, ${own[where].sent})
     select ${sharedValues}, ${own[where].values}, 'QUEUED', belfry.now(), 1, belfry.now() from generate_series(1, $1)
     returning id, generation`,
    [rows],
  );
  return loaded.map(({ id, generation }) => ({ jobId: id, generation, trace: "trace" }));
}

/** Rows that lie around: due in a day or later, and done. */
export async function loadCrowd(pool: pg.Pool, rows: number): Promise<void> {
  await pool.query(
    `insert into belfry.job (${shared}, event_id, state, due_at)
     select ${sharedValues}, 0, 'PENDING', belfry.now() + interval '1 day' + n * interval '1 s' from generate_series(1, $1) n`,
    [rows],
  );
  await pool.query(
    `insert into belfry.job (${shared}, event_id, state, due_at, finished_at, generation, attempt)
     select ${sharedValues}, 0, 'SUCCESS', belfry.now() - n * interval '1 s', belfry.now(), 1, 1 from generate_series(1, $1) n`,
    [rows],
  );
  await pool.query("vacuum analyze belfry.job");
  await pool.query("checkpoint");
}

/** Done rows with random keys, so that the index of keys has many pages. */
export async function loadKeyed(pool: pg.Pool, rows: number): Promise<void> {
  await pool.query(
    `insert into belfry.job (${shared}, event_id, key, state, due_at, finished_at, generation, attempt)
     select ${sharedValues}, 0, gen_random_uuid()::text, 'SUCCESS', belfry.now(), belfry.now(), 1, 1 from generate_series(1, $1)`,
    [rows],
  );
}

/** Empties what a round filled, in both tables, so that every round starts alike. */
export async function emptyTables(pool: pg.Pool): Promise<void> {
  await pool.query("truncate belfry.job, belfry.lease, belfry.event, belfry.history, belfry.outbox, raw.job");
}

/** Jobs as a client would hand them to the store. */
export function newJobs(rows: number, keyPrefix: string): readonly NewJob[] {
  return Array.from({ length: rows }, (_, n) => ({
    ...aRow,
    kind: "noop",
    key: `${keyPrefix}-${n}`,
    payload: { to: `user-${n}@example.org`, subject: "Your report is ready" },
    leaseMs: contractLimits.leaseMsDefault,
    maxAttempts: contractLimits.maxAttemptsDefault,
    trace: "0123456789abcdef0123456789abcdef",
  }));
}
