import { isoText } from "../../insight/sql-query.ts";
import type { DispatchedRow } from "./dispatch.ts";
import { firstEvents } from "./insert.ts";
import { keptStatement, statement } from "../statement.ts";
import { drawEvents, events, history, outbox } from "./record.ts";
import { countEnds, releaseColumns, releasedMoves, releaseWith } from "./release.ts";
import { placeOf } from "./pass-place.ts";
import { afterRows, cancelRows } from "./rows.ts";
import { skip } from "./run.ts";

/** A job that a round of `resolve` made QUEUED. */
export interface ReleasedRow extends DispatchedRow {
  readonly taken: number;
}

const release = releaseWith({ windowMs: "$3" });

const releasedRows = `${events}, ${history}, ${outbox}
select c.taken, t.id, t.generation, t.lane, t.trace, belfry.ms_until(t.due_at) as delay_ms, o.id as batch
from (select count(*)::int as taken from taken) c
left join (released t join posted o on o.lane = t.lane and t.state = 'QUEUED') on true
order by t.id`;

interface LookedAt {
  readonly ends: boolean;
  readonly joins: boolean;
  readonly orphans: boolean;
  readonly sums: string[] | null;
  readonly stops: string[] | null;
  readonly behind: string;
  readonly next: string;
}

const openOf = (of: {
  readonly runs: string;
  readonly ends: string;
  readonly rows: string;
  readonly orphans: string;
}) => `
with place as materialized (${placeOf("resolve")}
), looked as materialized (
  select id, state, sealed, on_failure, stopped, starter_id, total, done, failed from belfry.run
  where state in ('RUNNING', 'CANCELING') and ${of.runs}
  order by id ${of.rows}
)
select
  exists (select from belfry.run_done where ${of.ends}) as ends,
  exists (select from belfry.pred_delta where ${of.ends}) as joins,
  ${of.orphans} as orphans,
  (
    select array_agg(s.id) from (
      select r.id from looked r cross join lateral (
        select count(*) as n, sum(total) as total, sum(done) as done, sum(failed) as failed
        from belfry.run_delta d where d.run_id = r.id
      ) d
      where d.n > 0
        and (d.n >= $1::int or (r.sealed and r.done + d.done >= r.total + d.total)
          or (r.on_failure = 'stop' and not r.stopped and r.failed + d.failed > 0))
      order by r.id limit $2
    ) s
  ) as sums,
  (
    select array_agg(r.id) from looked r
    where r.state = 'RUNNING' and r.stopped
      and (
        select true from belfry.job j
        where j.run_id = r.id and (j.finished_at is not null)::int = 0 and j.state <> 'RUNNING' limit 1
      )
  ) as stops,
  behind, (select case when count(*) < $3::int then '' else max(id)::text end from looked) as next
from place`;

/**
 * What is open for these runs ($4): ends to count, wide joins to add up, runs to add up or to stop. A run is added up when that
 * could close or stop it, or when it has many deltas. $1 deltas that are many $2 runs added up $3 more than are asked for. Locks nothing.
 */
export const lookAtRuns = statement<LookedAt>("resolve-look")(
  openOf({ runs: "id = any($4::bigint[])", ends: "run_id = any($4::bigint[])", rows: "", orphans: "false" }),
);

/** The same for a window of $3 open runs behind the place of the pass before, and whether a starter left its run unsealed. Each pass asks. */
export const lookAtWindow = keptStatement<LookedAt>("resolve-look-window")(
  openOf({
    runs: "id > (select coalesce(nullif(behind, ''), '0')::bigint from place)",
    ends: "true",
    rows: "limit $3",
    orphans: `exists (
    select from looked r left join belfry.job j on j.id = r.starter_id
    where not r.sealed and r.starter_id is not null
      and (j.id is null or (j.finished_at is not null and j.state <> 'SUCCESS'))
  )`,
  }),
);

/**
 * Counts ends that are not counted yet, at each successor and in the run. $1 runs or null $2 limit $3 dispatch window.
 * Locks: list rows with SKIP LOCKED; then the ended jobs and their narrow successors in one list in id order (waiting).
 */
export const countUncounted = statement<ReleasedRow>("resolve-ends")(`
with taken as materialized (
  select id, job_id from belfry.run_done where $1::bigint[] is null or run_id = any($1::bigint[])
  order by id limit $2
  for update skip locked
), gone as (
  delete from belfry.run_done where id = any(array(select id from taken))
), out_edges as materialized (
  select from_id, to_id, run_id, wide from belfry.edge where from_id = any(array(select job_id from taken))
), locked as materialized (
  select id, state, run_id, end_counted, not_taken, ${releaseColumns}
  from belfry.job
  where id = any(array(
    select job_id from taken
    union select to_id from out_edges where not wide
  ))
  order by id
  for no key update
), ends as materialized (
  select l.id, l.run_id, l.state, r.state as run_state,
    (l.state = 'SUCCESS' or (l.state = 'FAILED' and r.on_failure = 'continue'))::int as ok,
    (l.state <> 'SUCCESS' and not l.not_taken and not (l.state = 'FAILED' and r.on_failure = 'continue'))::int as bad
  from locked l join belfry.run r on r.id = l.run_id
  where l.id = any(array(select job_id from taken)) and l.state >= 'SUCCESS' and not l.end_counted
), ${countEnds}, marked as (
  update belfry.job set end_counted = true where id = any(array(select id from ends))
), ${release}, moves as (${releasedMoves}
), ${releasedRows}`);

/**
 * Adds up wide joins that no other statement adds up. $1 runs or null $2 limit $3 dispatch window. Look again after the
 * commit: what was appended while this statement held the row is not counted.
 * Locks: the joins in id order with SKIP LOCKED; what it deletes belongs to them.
 */
export const addUpJoins = statement<ReleasedRow>("resolve-joins")(`
with locked as materialized (
  select id, state, ${releaseColumns} from belfry.job
  where id = any(array(
    select distinct to_id from belfry.pred_delta where $1::bigint[] is null or run_id = any($1::bigint[]) limit $2
  ))
  order by id
  for no key update skip locked
), added as (
  delete from belfry.pred_delta where to_id = any(array(select id from locked)) returning to_id, n, ok, bad
), counted as materialized (
  select to_id, false as wide, sum(n)::int as n, sum(ok)::int as ok, sum(bad)::int as bad from added group by to_id
), taken as (
  select to_id from counted
), ${release}, moves as (${releasedMoves}
), ${releasedRows}`);

/**
 * Adds deltas up and closes what is complete: FAILED when more of its jobs FAILED or were canceled by themselves than it
 * tolerates, or its starter did not seal it. $1 runs.
 * Whether it is sealed is read without the lock, by the snapshot that also reads the deltas: the locked row may be sealed
 * since, and its last page's delta not be seen. The locked row is asked too: its starter may have opened it again.
 * What closes a run writes its continuation, once: only the first end that it asks for, and none for a run that was withdrawn.
 * A task whose rows they are, and that waits for that end, is due.
 * Locks: the runs in id order with SKIP LOCKED; look again after it. Then the unique entry of a continuation's key; then such tasks.
 */
export const addUpRuns = statement<{
  id: string;
  kind: string;
  state: "RUNNING" | "CANCELING" | "DONE" | "FAILED" | "CANCELED";
  lane: string | null;
}>("resolve-runs")(`
with seen as materialized (
  select id, sealed from belfry.run where id = any($1::bigint[])
), mine as materialized (
  select * from belfry.run where id = any($1::bigint[]) and state in ('RUNNING', 'CANCELING')
  order by id
  for no key update skip locked
), taken as (
  delete from belfry.run_delta where run_id = any(array(select id from mine)) returning *
), sums as materialized (
  select m.id, m.state, x.sealed and m.sealed as sealed, m.error is not null as is_orphan, m.on_failure, m.stopped, m.tolerate,
    m.total + coalesce(sum(t.total), 0)::int as total, m.done + coalesce(sum(t.done), 0)::int as done,
    m.ok + coalesce(sum(t.ok), 0)::int as ok, m.failed + coalesce(sum(t.failed), 0)::int as failed,
    m.skipped + coalesce(sum(t.skipped), 0)::int as skipped
  from mine m join seen x on x.id = m.id join taken t on t.run_id = m.id
  group by m.id, m.state, x.sealed, m.sealed, m.error, m.on_failure, m.stopped, m.tolerate, m.total, m.done, m.ok, m.failed, m.skipped
), ended as materialized (
  select *, case when not (sealed and done = total) then state when state = 'CANCELING' then 'CANCELED'
    when is_orphan or done - ok - skipped > tolerate * total then 'FAILED' else 'DONE' end::belfry.run_state as becomes
  from sums
), follows as materialized (
  select m.id as run_id, nextval('belfry.job_id_seq') as id, belfry.next_event() as event_id, m.trace, c.*,
    jsonb_build_object('runId', m.id::text, 'outcome', e.becomes, 'total', e.total, 'succeeded', e.ok, 'failed', e.failed,
      'canceled', e.done - e.ok - e.failed - e.skipped, 'skipped', e.skipped, 'startedAt', ${isoText("m.created_at")},
      'endedAt', ${isoText("belfry.now()")}, 'input', m.input) as payload
  from ended e join mine m on m.id = e.id
  cross join jsonb_to_record(m.continuation) as c
    (kind text, lane text, "on" text, "leaseMs" int, "maxAttempts" int, "retentionMs" bigint)
  where m.continuation is not null and m.continued_by is null and m.withdrawn is null
    and ((c."on" = 'end' and e.becomes in ('DONE', 'FAILED', 'CANCELED'))
      or e.becomes::text = case c."on" when 'success' then 'DONE' when 'failure' then 'FAILED' end)
), inserted as (
  insert into belfry.job (id, kind, key, payload, lane, state, event_id, due_at, lease_ms, max_attempts, retention_ms, trace, created_at)
  overriding system value
  select id, kind, 'then:' || run_id, payload, lane, 'PENDING', event_id, belfry.now(), "leaseMs", "maxAttempts", "retentionMs",
    trace, belfry.now()
  from follows
  on conflict (belfry.key_hash(kind, key)) where key is not null do nothing
  returning id, event_id, state
), awakened as (
  update belfry.job j set due_at = belfry.now()
  from ended e join mine m on m.id = e.id
  where j.id = m.starter_id and j.state = 'RETRY_WAIT' and j.task is not null and e.becomes in ('DONE', 'FAILED', 'CANCELED')
  returning m.id as run_id, j.lane
), ${firstEvents}
update belfry.run r set total = s.total, done = s.done, ok = s.ok, failed = s.failed, skipped = s.skipped,
  stopped = s.stopped or (s.on_failure = 'stop' and s.failed > 0 and s.state = 'RUNNING'),
  finished_at = case when s.becomes in ('DONE', 'FAILED', 'CANCELED') then belfry.now() end,
  state = s.becomes, continued_by = coalesce(r.continued_by, f.id)
from ended s left join follows f on f.run_id = s.id left join awakened a on a.run_id = s.id where r.id = s.id
returning r.id, r.kind, r.state, coalesce(f.lane, a.lane) as lane`);

/**
 * Waiting jobs of stopped runs -> SKIPPED, and what runs for the rows of their tasks is canceled. $1 runs $2 limit.
 * Locks: runs of rows; then jobs in id order, waiting.
 */
export const skipStopped = statement<{ id: string; run_id: string | null }>("resolve-stop")(`
with ${cancelRows(
  `select id from belfry.job
    where run_id = any($1::bigint[]) and (finished_at is not null)::int = 0 and state = 'RETRY_WAIT' and task is not null`,
  "null",
)}, mine as materialized (
  select id, state, 'run stopped' as reason, false as not_taken,
    case state when 'PENDING' then 1 when 'QUEUED' then 2 else 3 end as kind
  from belfry.job
  where id = any(array(
    select id from belfry.job
    where run_id = any($1::bigint[]) and (finished_at is not null)::int = 0 and state <> 'RUNNING' order by id limit $2
  )) and state in ('PENDING', 'QUEUED', 'RETRY_WAIT') and ${afterRows}
  order by id
  for no key update
), ${drawEvents}, ${skip}`);
