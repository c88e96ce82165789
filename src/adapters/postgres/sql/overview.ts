import type { LivePart } from "../../../core/ports/overview.ts";
import { statement } from "../statement.ts";
import { isFailed, isOut, isWaiting } from "./job-columns.ts";
import { pauseColumns, type PauseRow } from "./pause.ts";

export interface LiveRow {
  readonly part: LivePart;
  readonly lane: string;
  readonly state: string;
  readonly hold: "none" | "paused" | "slot";
  readonly blocked: boolean;
  readonly jobs: number;
  readonly due: number;
  readonly oldest_due_at: number;
  readonly now: number;
  /** More runs are open than were looked at. */
  readonly is_more: boolean;
}

/**
 * Live jobs by lane and state, $1 rows of each part at most: what is out and what a pause holds lane by lane, so that a long
 * lane hides no other; what waits for its time, for a slot or for predecessors in $2 open runs of all lanes. Of what is out
 * also the $1 that were sent last: what runs is among the first, and would hide what waits. The
 * lane is a range of one, so that only `job_out` gives the order. Locks nothing.
 */
export const countLive = statement<LiveRow>(
  "live",
  `
with recursive lanes as (
  (select lane from belfry.job where ${isOut} order by lane limit 1)
  union all
  select n.lane from lanes l cross join lateral (select lane from belfry.job where ${isOut} and lane > l.lane order by lane limit 1) n
), runs as materialized (
  select id from belfry.run where state in ('RUNNING', 'CANCELING') order by id desc limit $2
)
select part, lane, state, hold, blocked, count(*)::int as jobs, count(*) filter (where due_at <= belfry.now())::int as due,
  belfry.ms(min(due_at)) as oldest_due_at, belfry.ms(belfry.now()) as now,
  (select count(*) from runs) >= $2 as is_more
from (
  select 'out' as part, j.lane, state, hold, blocked, due_at from lanes l cross join lateral (
    (select id, lane, state, hold, blocked, due_at from belfry.job
      where (lane, dispatched_at) >= (l.lane, '-infinity') and lane <= l.lane and ${isOut} order by lane, dispatched_at limit $1)
    union
    (select id, lane, state, hold, blocked, due_at from belfry.job
      where (lane, dispatched_at) <= (l.lane, 'infinity') and lane >= l.lane and ${isOut} order by lane desc, dispatched_at desc limit $1)
  ) j
  union all
  (select 'due', lane, state, hold, blocked, due_at from belfry.job where held_on = '' and ${isWaiting} order by due_at, id limit $1)
  union all
  select 'paused', j.* from belfry.lane l cross join lateral (
    select lane, state, hold, blocked, due_at from belfry.job where held_on = 'lane:' || l.name and ${isWaiting} order by due_at, id limit $1
  ) j
  union all
  (select 'slot', lane, state, hold, blocked, due_at from belfry.job where held_on > '' and ${isWaiting} order by held_on limit $1)
  union all
  (
    select 'blocked', j.* from runs r cross join lateral (
      select lane, state, hold, blocked, due_at from belfry.job where run_id = r.id and (finished_at is not null)::int = 0 and blocked limit $1
    ) j limit $1
  )
) live
group by part, lane, state, hold, blocked
order by part, lane, state, hold, blocked`,
);

/** Locks nothing. */
export const readLanes = statement<{ name: string } & PauseRow>(
  "lanes",
  `
select name, ${pauseColumns} from belfry.lane order by name limit $1`,
);

export interface SlotRow {
  readonly key: string;
  readonly size: number;
  readonly taken: number;
  readonly waiting: number;
  readonly holders: { jobId: string; kind: string | null; since: number | null }[];
}

const taken = `(
  select count(*)::int as taken from belfry.slot s
  where s.key = g.key and s.n between 1 and g.size and s.job_id is not null
    and (s.free_from is null or s.free_from > belfry.now())
) t`;

const holders = (most: string): string => `(
  select jsonb_agg(jsonb_build_object('jobId', x.job_id::text, 'kind', x.kind, 'since', belfry.ms(x.started_at))) as holders
  from (
    select s.job_id, j.kind, j.started_at from belfry.slot s left join belfry.job j on j.id = s.job_id
    where s.key = g.key and s.n >= 1 and s.job_id is not null and (s.free_from is null or s.free_from > belfry.now())
    order by s.n limit ${most}
  ) x
) h`;

/** Slot groups by the beginning of their key: $1. $2 groups, $3 holders each, $4 waiting ones at most. Locks nothing. */
export const readSlots = statement<SlotRow>(
  "slots",
  `
select g.key, g.size, t.taken, w.waiting, coalesce(h.holders, '[]') as holders
from (
  select key, size from belfry.slot_group where starts_with(key, $1) order by key limit $2
) g
cross join lateral ${taken}
cross join lateral (
  select count(*)::int as waiting from (
    select from belfry.job where held_on = g.key and ${isWaiting} limit $4
  ) held
) w
cross join lateral ${holders("$3")}
order by g.key`,
);

/** The group of the key $1, without the jobs that wait for it. $2 holders at most. Locks nothing. */
export const readSlot = statement<Omit<SlotRow, "waiting">>(
  "slot",
  `
select g.key, g.size, t.taken, coalesce(h.holders, '[]') as holders
from belfry.slot_group g cross join lateral ${taken} cross join lateral ${holders("$2")}
where g.key = $1`,
);

export interface WorkerRow {
  readonly id: string;
  readonly lane: string | null;
  readonly version: string | null;
  readonly started_at: number | null;
  readonly seen_at: number;
  readonly ended: number;
  readonly failed: number;
  readonly lost: number;
  readonly lost_at: number | null;
  readonly running:
    | {
        jobId: string;
        kind: string;
        attempt: number;
        progress: number | null;
        startedAt: number;
        leaseUntil: number;
        beatAt: number;
      }[]
    | null;
}

/** Workers seen since $1, and all that run something. $2 workers, $3 running jobs looked at, at most. Locks nothing. */
export const readWorkers = statement<WorkerRow>(
  "workers",
  `
with leases as materialized (
  select * from belfry.lease order by until limit $3
), running as materialized (
  select l.worker, l.lane, j.id, j.kind, j.attempt, j.progress, j.started_at, l.until,
    least(belfry.now(), greatest(j.started_at, l.until - belfry.span(l.ms))) as beat_at
  from belfry.job j join leases l on l.id = j.lease_id
  where j.id = any(array(select unnest(job_ids) from leases limit $3))
), busy as materialized (
  select worker as id, min(lane) as lane, max(beat_at) as beat_at, jsonb_agg(jsonb_build_object('jobId', id::text, 'kind', kind,
    'attempt', attempt, 'progress', progress, 'startedAt', belfry.ms(started_at), 'leaseUntil', belfry.ms(until),
    'beatAt', belfry.ms(beat_at)) order by id) as running
  from running group by worker
), known as materialized (
  select * from belfry.worker where seen_at >= belfry.at($1::float8) order by seen_at desc limit $2
)
select id, coalesce(k.lane, b.lane) as lane, k.version, belfry.ms(k.started_at) as started_at,
  belfry.ms(greatest(k.seen_at, b.beat_at)) as seen_at, coalesce(k.ended, 0)::float8 as ended,
  coalesce(k.failed, 0)::float8 as failed, coalesce(k.lost, 0)::float8 as lost, belfry.ms(k.lost_at) as lost_at, b.running
from known k full join busy b using (id)
order by greatest(k.seen_at, b.beat_at) desc, id limit $2`,
);

export interface FailureGroupRow {
  readonly fingerprint: string;
  readonly kind: string;
  readonly error_code: string | null;
  readonly jobs: number;
  readonly first_at: number;
  readonly last_at: number;
  readonly samples: { jobId: string; at: number; message: string | null }[];
}

/**
 * Failures that look alike, among the newest $1 of all kinds, with how many those were. $2 kind or null $3 groups and $4 samples of each
 * at most. Locks nothing.
 */
export const readFailureGroups = statement<{ looked: number } & (FailureGroupRow | { fingerprint: null })>(
  "failure-groups",
  `
with newest as materialized (
  select id, kind, error_code, error_message, finished_at from belfry.job where ${isFailed} order by id desc limit $1
), grouped as (
  select belfry.fingerprint(kind, error_code, error_message) as fingerprint, kind, error_code, (array_agg(id order by id desc))[1:$4::int] as ids,
    count(*)::int as jobs, belfry.ms(min(finished_at)) as first_at, belfry.ms(max(finished_at)) as last_at
  from newest where $2::text is null or kind = $2::text group by 1, kind, error_code
)
select g.*, s.samples, n.looked
from (select count(*)::int as looked from newest) n
left join (select * from grouped order by jobs desc, ids[1] desc limit $3) g on true
left join lateral (
  select jsonb_agg(jsonb_build_object('jobId', id::text, 'at', belfry.ms(finished_at), 'message', error_message) order by id desc) as samples
  from belfry.job where id = any(g.ids)
) s on true
order by g.jobs desc, g.ids[1] desc`,
);

/** Locks nothing. */
export const readFences = statement<{
  name: string;
  token: number;
  installed_at: number;
  fallback_owner: string | null;
  fallback_until: number | null;
}>(
  "fences",
  `
select f.name, f.token::float8 as token, belfry.ms(f.installed_at) as installed_at, s.owner as fallback_owner,
  belfry.ms(s.lease_until) as fallback_until
from belfry.lock_fence f
left join belfry.fallback_lock s on s.name = f.name and s.owner is not null and s.lease_until > belfry.clock()
order by f.name limit $1`,
);
