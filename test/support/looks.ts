/** What tests read of a store beside its port, of Postgres by the product's own queries. */
import type { Pool } from "pg";
import { findHolder, readOccurrences, readOccurrencesAt, type SlotHolder } from "../../src/insight/occurrences.ts";
import { readRun, readRuns, readTasks, type RunFilter, type RunRow, type TaskRow } from "../../src/insight/runs.ts";
import type { Database } from "../../src/insight/sql-query.ts";
import { jobColumns } from "../../src/machine/job-columns.ts";
import type { HistoryRow, Instant, JobId, JobView, RunId } from "../../src/machine/job.ts";
import type { OccurrencePlace, OccurrenceView } from "../../src/machine/schedule.ts";
import type { State } from "../../src/machine/state.ts";
import type { Store } from "../../src/machine/store.ts";
import type { Connections } from "../../src/postgres/connect.ts";
import { createDatabase } from "../../src/postgres/database.ts";
import { createPostgresStore } from "../../src/postgres/store.ts";

/** All left out: every job, the newest first. */
export interface JobLook {
  readonly states?: readonly State[];
  readonly kind?: string;
  readonly limit?: number;
}

export type RunLook = Omit<RunRow, "id" | "progress"> & RunRow["progress"] & { readonly id: RunId };
export type TaskLook = Omit<TaskRow, "job"> & { readonly jobId: JobId };

export interface Looks {
  jobs(look?: JobLook): Promise<readonly JobView[]>;
  /** The kept moves of a job, the oldest first. */
  history(id: JobId): Promise<readonly HistoryRow[]>;
  run(id: RunId): Promise<RunLook | null>;
  runs(look?: Partial<Pick<RunFilter, "kinds" | "states" | "parent" | "limit">>): Promise<readonly RunLook[]>;
  tasks(
    run: RunId,
    look?: { readonly states?: readonly State[]; readonly limit?: number },
  ): Promise<readonly TaskLook[]>;
  /** The newest first. */
  occurrences(schedule: string, after?: OccurrencePlace, limit?: number): Promise<readonly OccurrenceView[]>;
  occurrencesAt(
    schedule: string,
    at: { readonly localTimes: readonly string[]; readonly instants: readonly Instant[] },
  ): Promise<readonly OccurrenceView[]>;
  slotHolder(id: JobId, of: { readonly at: Instant; readonly prefix: string }): Promise<SlotHolder | null>;
}

/** The port, and what tests read beside it. */
export type TestStore = Store & Looks;

/** Larger than what any test makes. */
const limit = 1_000_000;

export function testStore(
  connections: Connections,
  options: Parameters<typeof createPostgresStore>[1] = {},
): TestStore {
  const insight = createDatabase(connections, { ...options, checksRows: true });
  return { ...createPostgresStore(connections, options), ...looksOf(connections.main, insight) };
}

function looksOf(pool: Pool, insight: Database): Looks {
  return {
    async jobs({ states, kind, limit: most = limit } = {}) {
      const text = `select ${jobColumns} from belfry.job j
        where ($1::belfry.job_state[] is null or state = any($1)) and ($2::text is null or kind = $2) order by id desc limit $3`;
      return await rowsOf<JobView>(pool, text, [states, kind, most]);
    },
    async history(id) {
      const text = `select id, belfry.ms(at) as at, from_state as "from", to_state as "to", attempt, generation, worker, reason,
        caller, belfry.ms(started_at) as "startedAt", error_code as "errorCode", error_message as "errorMessage"
        from belfry.history where job_id = $1 order by id`;
      return await rowsOf<HistoryRow>(pool, text, [id]);
    },
    async run(id) {
      const [row] = await insight.run(readRun, id);
      return row === undefined ? null : flat(row);
    },
    runs: async (look = {}) => (await insight.run(readRuns, { limit, ...look })).map(flat),
    tasks: async (run, look = {}) =>
      (await insight.run(readTasks, { limit, ...look, run })).map(({ job, ...task }) => ({
        ...task,
        jobId: job as JobId,
      })),
    occurrences: (id, after, most = limit) => insight.run(readOccurrences, { id, after, limit: most }),
    occurrencesAt: (id, at) => insight.run(readOccurrencesAt, { id, ...at }),
    slotHolder: async (id, of) => (await insight.run(findHolder, { id, ...of }))[0] ?? null,
  };
}

/** Not `pool.query`, which passes a callback: what watches statements wraps the client, and answers by a promise. */
async function rowsOf<T extends object>(pool: Pool, text: string, values: readonly unknown[]): Promise<readonly T[]> {
  const client = await pool.connect();
  try {
    return (await client.query<T>(text, [...values])).rows;
  } finally {
    client.release();
  }
}

const flat = ({ progress, id, ...run }: RunRow): RunLook => ({ ...run, ...progress, id: id as RunId });
