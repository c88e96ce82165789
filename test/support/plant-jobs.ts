import type { Pool } from "pg";
import type { JobId } from "../../src/machine/job.ts";
import type { State } from "../../src/machine/state.ts";

type Columns = Readonly<Record<string, string | number>>;

const out: Columns = { generation: 1, dispatched_at: "belfry.now()" };
const tried: Columns = { ...out, attempt: 1, worker: "'w'", started_at: "belfry.now()" };
const ended: Columns = { finished_at: "belfry.now()" };

/** What the table asks of a job in each state. */
const ofState: Readonly<Record<State, Columns>> = {
  PENDING: {},
  QUEUED: out,
  RUNNING: { ...tried, lease_id: 0 },
  RETRY_WAIT: { generation: 1, attempt: 1, failures: 1 },
  SUCCESS: ended,
  FAILED: { ...tried, ...ended, failures: 1, error_code: "'BROKEN'" },
  CANCELED: ended,
  SKIPPED: ended,
};

/**
 * So many jobs as no statement writes them, of kind `ping` and due now. A column's value is SQL, in which `n` counts from 1.
 * @returns their ids, in the order of `n`.
 */
export async function plantJobs(
  pool: Pick<Pool, "query">,
  state: State,
  count: number,
  over: Columns = {},
): Promise<readonly JobId[]> {
  const usual = { kind: "'ping'", payload: "'null'", lane: "'default'", due_at: "belfry.now()", trace: "'t'" };
  const limits = { max_attempts: 4, lease_ms: 20_000, retention_ms: 2_592_000_000 };
  const stands = { state: `'${state}'`, event_id: 0, created_at: "belfry.now()", ...ofState[state] };
  const all: Columns = { ...usual, ...limits, ...stands, ...over };
  const { rows } = await pool.query<{ id: JobId }>(
    `insert into belfry.job (${Object.keys(all).join(", ")})
     select ${Object.values(all).join(", ")} from generate_series(1, ${count}) n returning id::text`,
  );
  return rows.map(({ id }) => id);
}
