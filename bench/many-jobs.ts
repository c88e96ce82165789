import type { Pool } from "pg";

export const manyJobs = { finished: 1_000_000, live: 100_000 };

/** A million finished jobs, one in a hundred of them failed, and 100,000 that are due before, now and later. */
export async function loadManyJobs(pool: Pool, finished = manyJobs.finished): Promise<void> {
  await pool.query(
    `insert into belfry.job (kind, key, payload, payload_hash, lane, state, event_id, due_at, generation, attempt, max_attempts, failures,
       lease_ms, retention_ms, trace, started_at, finished_at, created_at, error_code, error_message)
     select 'kind-' || n % 20, 'key-' || n, jsonb_build_object('user', n % 1000), '\\x00', case when n % 7 = 0 then 'mail' else 'default' end,
       case when n % 100 = 0 then 'FAILED' when n % 1000 = 1 then 'CANCELED' else 'SUCCESS' end::belfry.job_state, 0, belfry.now(), 1, 1, 4,
       0, 20000, 2592000000, 't', belfry.now(), belfry.now(), belfry.now(), case when n % 100 = 0 then 'E' || n % 9 end,
       case when n % 100 = 0 then 'failed for user ' || n end
     from generate_series(1, $1) n`,
    [finished],
  );
  await pool.query(
    `insert into belfry.job (kind, payload, payload_hash, lane, state, event_id, due_at, generation, attempt, max_attempts, lease_ms,
       retention_ms, trace, worker, started_at, lease_id, dispatched_at, created_at)
     select 'kind-' || n % 20, '{}', '\\x00', case when n % 7 = 0 then 'mail' else 'default' end, s.state::belfry.job_state, 0,
       belfry.now() + (n - 50000) * interval '1 second', 1, 1, 4, 20000, 2592000000, 't', 'w', belfry.now(),
       case s.state when 'RUNNING' then 1 end, case when s.state <> 'PENDING' then belfry.now() end, belfry.now()
     from generate_series(1, $1) n
     cross join lateral (select case when n % 10 < 3 then 'QUEUED' when n % 1000 = 4 then 'RUNNING' else 'PENDING' end as state) s`,
    [Math.min(manyJobs.live, finished)],
  );
  await pool.query(
    `insert into belfry.lease (id, worker, lane, ms, until, job_ids) overriding system value
     select 1, 'w', 'default', 20000, belfry.now() + interval '1 hour', array_agg(id) from belfry.job where lease_id = 1
     having count(*) > 0`,
  );
  await pool.query("analyze belfry.job");
}
