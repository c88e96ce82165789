import { keptStatement, statement } from "../statement.ts";

/** Runs with what becomes of each. */
const due = `select r.id, r.starter_id,
    case when s.paused_until > belfry.now() then 'paused' when not r.sealed and j.state = 'CANCELED' then 'withdrawn' end as why
  from belfry.run r left join belfry.schedule s on s.id = r.prematerialized_by left join belfry.job j on j.id = r.starter_id`;

/** Releases or withdraws the runs `due`. */
const decided = `moved as (
  update belfry.run r set prematerialized_for = null, prematerialized_by = null, withdrawn = d.why, sealed = r.sealed or d.why is not null,
    state = case when d.why is not null and r.state = 'RUNNING' then 'CANCELING' else r.state end
  from due d where r.id = d.id
  returning r.id, r.starter_id, r.withdrawn
), nudged as (
  insert into belfry.run_delta (run_id) select id from moved where withdrawn is not null
), freed as (
  update belfry.slot s set job_id = null, free_from = null from moved m
  where m.withdrawn is not null and s.job_id = m.starter_id and s.attempt is null and s.n > 0
), skipped as (
  update belfry.occurrence o set outcome = 'SKIPPED', reason = 'paused', decided_at = belfry.now(),
    lateness_ms = belfry.ms_since(coalesce(o.effective_at, o.nominal_at))
  from moved m where m.withdrawn = 'paused' and o.job_id = m.starter_id and o.outcome in ('FIRED', 'CAUGHT_UP')
)`;

/**
 * Prematerialized runs whose nominal time has come: released, or, when their schedule is paused, withdrawn with the
 * occurrence SKIPPED `paused`. A run whose starter was canceled before its last page is withdrawn too: no job continues it.
 * $1 limit, of the earliest. Locks: the runs in id order, SKIP LOCKED, so that one that a session holds delays no other; then their
 * slots; then their occurrences.
 */
export const decidePrematerialized = keptStatement<{ decided: number; withdrawn: number }>("prematerialized-decide")(`
with due as materialized (
  ${due}
  where r.id = any(array(
    select id from belfry.run where prematerialized_for <= belfry.now() order by prematerialized_for limit $1
  )) and r.prematerialized_for <= belfry.now()
  order by r.id
  for no key update of r skip locked
), ${decided}
select count(*)::int as decided, count(withdrawn)::int as withdrawn from moved`);

/**
 * The same before a change of these schedules, which must find each such run decided. `next_at`: the earliest time that is left.
 * $1 schedules $2 limit $3 milliseconds by which a time may still be ahead. Locks: the runs in id order, waiting; then their
 * slots; then their occurrences.
 */
export const decideBeforeChange = statement<{ next_at: number | null }>("prematerialized-decide-before")(`
with due as materialized (
  ${due}
  where r.prematerialized_for <= belfry.now() + belfry.span($3::float8) and r.prematerialized_by = any($1::text[])
  order by r.id limit $2
  for no key update of r
), ${decided}
select belfry.ms(min(r.prematerialized_for)) as next_at from belfry.run r
where r.prematerialized_by = any($1::text[]) and r.prematerialized_for > belfry.now() + belfry.span($3::float8)`);

/**
 * Later times whose job has begun to prematerialize, with the version that decided them: those with a run that can be
 * withdrawn, or without a run so far. Jobs that ended before a clock was set back are left out.
 * $1 schedules, locked before. Locks nothing.
 */
export const findPrematerialized = statement<{
  schedule_id: string;
  nominal_at: number;
  job_id: string;
  spec: unknown;
}>("prematerialized-find")(`
select o.schedule_id, belfry.ms(o.nominal_at) as nominal_at, o.job_id, v.spec
from belfry.occurrence o
join belfry.schedule_version v on v.schedule_id = o.schedule_id and v.version = o.schedule_version
join belfry.job j on j.id = o.job_id
left join belfry.run r on r.starter_id = o.job_id
where o.schedule_id = any($1::text[]) and o.nominal_at > belfry.now() and o.outcome in ('FIRED', 'CAUGHT_UP')
  and (v.spec ->> 'materializeBeforeMs')::bigint > 0
  and case when r.id is null then j.finished_at is null else r.prematerialized_for is not null end
order by o.job_id`);

/**
 * Withdraws the runs that these jobs started and deletes their occurrences, as for times that were only planned. Their targets
 * are CANCELED in pages later, and none is claimed any more. $1 jobs.
 * Locks: the runs in id order, waiting; then their slots; then the occurrences.
 */
export const withdrawPrematerialized = statement<never>("prematerialized-withdraw")(`
with mine as materialized (
  select id, state from belfry.run where starter_id = any($1::bigint[]) and prematerialized_for is not null
  order by id
  for no key update
), moved as (
  update belfry.run r set prematerialized_for = null, prematerialized_by = null, withdrawn = 'withdrawn', sealed = true,
    state = case m.state when 'RUNNING' then 'CANCELING' else m.state end
  from mine m where r.id = m.id
  returning r.id, r.starter_id
), nudged as (
  insert into belfry.run_delta (run_id) select id from moved
), freed as (
  update belfry.slot s set job_id = null, free_from = null from moved m
  where s.job_id = m.starter_id and s.attempt is null and s.n > 0
)
delete from belfry.occurrence where job_id = any($1::bigint[]) and nominal_at > belfry.now()`);

/**
 * Renames the keys of jobs that were withdrawn before they ran, so that the same targets can be written for another time.
 * `is_open`: not CANCELED yet, so it keeps its key. $1 ids.
 * Locks: jobs in id order, waiting.
 */
export const freeWithdrawnKeys = statement<{ id: string; is_open: boolean }>("prematerialized-free-keys")(`
with mine as materialized (
  select j.id, j.finished_at is null as is_open from belfry.job j join belfry.run r on r.id = j.run_id
  where j.id = any($1::bigint[]) and j.attempt = 0 and r.withdrawn is not null
  order by j.id
  for no key update of j
), freed as (
  update belfry.job j set key = left(j.key, $2::int) || '#withdrawn:' || j.id from mine m where j.id = m.id and not m.is_open
)
select id, is_open from mine order by id`);
