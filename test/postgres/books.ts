import type { Pool } from "pg";

/** What the tables say that cannot be, in words; empty when they agree. Reads every event. */
export async function contradictions(pool: Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ what: string }>(`
    with moves as materialized (
      select xid, event_id, place, job_id, attempt, from_state, to_state from belfry.move
    ), chained as (
      select *, lag(to_state) over (partition by job_id order by event_id, place) as was from moves
    )
    select 'job ' || job_id || ' left ' || from_state || ' but was ' || was as what from chained where from_state is distinct from was
    union all
    select 'job ' || j.id || ' is RUNNING without its lease' from belfry.job j
    left join belfry.lease l on l.id = j.lease_id and j.id = any(l.job_ids) and l.worker = j.worker
    where j.state = 'RUNNING' and l.id is null
    union all
    select 'job ' || j.id || ' is at attempt ' || j.attempt || ' after ' || m.claims || ' claims'
    from belfry.job j cross join lateral (
      select count(*) as claims from moves where job_id = j.id and to_state = 'RUNNING'
    ) m
    where j.attempt <> m.claims
    union all
    select 'attempt ' || attempt || ' of job ' || job_id || ' ended ' || to_state || ' without history' from moves m
    where from_state = 'RUNNING' and to_state <> 'SUCCESS' and not exists (
      select from belfry.history h where h.job_id = m.job_id and h.attempt = m.attempt and h.from_state = 'RUNNING'
    )
    union all
    select 'job ' || id || ' is a SUCCESS without its worker or times' from belfry.job
    where state = 'SUCCESS' and num_nulls(worker, started_at, finished_at) > 0`);
  return rows.map(({ what }) => what);
}

/** Leases of this moment. None is left once every job has ended and a rescue has seen the expired ones. */
export async function leasesLeft(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ leases: number }>("select count(*)::int as leases from belfry.lease");
  return rows[0]?.leases ?? 0;
}
