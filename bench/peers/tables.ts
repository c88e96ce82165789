import type pg from "pg";
import { loadCrowd } from "../rows.ts";
import type { ContenderName } from "./contender.ts";

/** What the bench itself asks and writes in a contender's tables. Each has a database of its own on the one server. */
export interface Tables {
  readonly schema: string;
  /** Where a run's jobs begin: what is asked for goes into `unfinished` as its parameter. */
  readonly mark: string;
  /** Whether a job after the mark has not ended. It is asked again and again while a run ends, so an index must answer. */
  readonly unfinished: string;
  /** How many jobs are kept as done. Null: none is. */
  readonly done: string | null;
  readonly empty: string;
  /** Rows that lie around: done long ago, and due in a day or later. */
  crowd(pool: pg.Pool, rows: number): Promise<void>;
}

const belfry: Tables = {
  schema: "belfry",
  mark: "select coalesce(max(id), 0) as mark from belfry.job",
  unfinished: "select exists (select from belfry.job where id > $1 and finished_at is null)",
  done: "select count(*)::int from belfry.job where state = 'SUCCESS'",
  empty: "truncate belfry.job, belfry.lease, belfry.event, belfry.history, belfry.outbox, raw.job",
  crowd: loadCrowd,
};

export const tablesOf: Readonly<Record<ContenderName, Tables>> = {
  belfry,
  "belfry-sqs": belfry,
  roof: {
    ...belfry,
    schema: "raw",
    mark: "select coalesce(max(id), 0) as mark from raw.job",
    unfinished: "select exists (select from raw.job where id > $1 and state <> 'SUCCESS')",
    done: "select count(*)::int from raw.job where state = 'SUCCESS'",
    crowd: () => Promise.reject(new Error("the roof has no crowd")),
  },
  "graphile-worker": {
    schema: "graphile_worker",
    mark: "select coalesce(max(id), 0) as mark from graphile_worker._private_jobs",
    unfinished: "select exists (select from graphile_worker._private_jobs where id > $1)",
    done: null,
    empty: "truncate graphile_worker._private_jobs",
    // What is done has no row there: only the future can lie around.
    async crowd(pool, rows) {
      await pool.query("select 1 from graphile_worker.add_job('noop', run_at := now() + interval '1 day')");
      await pool.query(
        `insert into graphile_worker._private_jobs (task_id, payload, run_at)
         select t.id, json_build_object('n', -n), now() + interval '1 day' + n * interval '1 s'
         from graphile_worker._private_tasks t, generate_series(1, $1) n`,
        [rows],
      );
      await pool.query("vacuum analyze graphile_worker._private_jobs");
    },
  },
  "pg-boss": {
    schema: "pgboss",
    // Its ids are random: what is live and due within the hour is of the run.
    mark: "select now() + interval '1 hour' as mark",
    unfinished: `
      select exists (select from pgboss.job where name = 'noop' and state = 'created' and not blocked and start_after < $1)
        or exists (select from pgboss.job where name = 'noop' and state = 'retry' and not blocked and start_after < $1)
        or exists (select from pgboss.job where name = 'noop' and state = 'active' and not blocked and start_after < $1) as exists`,
    done: "select count(*)::int from pgboss.job where state = 'completed'",
    empty: "truncate pgboss.job",
    async crowd(pool, rows) {
      await pool.query(
        `insert into pgboss.job (name, data, state, started_on, completed_on, created_on)
         select 'noop', jsonb_build_object('n', -n), 'completed', now(), now(), now() from generate_series(1, $1) n`,
        [rows],
      );
      await pool.query(
        `insert into pgboss.job (name, data, start_after, created_on)
         select 'noop', jsonb_build_object('n', -n), now() + interval '1 day' + n * interval '1 s', now() from generate_series(1, $1) n`,
        [rows],
      );
      await pool.query("vacuum analyze pgboss.job");
    },
  },
};
