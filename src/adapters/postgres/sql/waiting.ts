import { statement } from "../statement.ts";
import { pauseColumns, type PauseRow } from "./pause.ts";

export interface WaitingRow {
  readonly lane_pause: PauseRow | null;
  readonly schedule: (PauseRow & { readonly enabled: boolean }) | null;
  readonly preds_open: number;
  readonly preds: string[] | null;
  readonly ahead: number;
  readonly held_before: number;
  readonly running: number;
  /** There are more leases than were looked at. */
  readonly is_more_running: boolean;
  readonly seen_at: number | null;
  readonly failed_first: Readonly<{ id: string; run: string; task: string; code: string | null }> | null;
  readonly last_reason: string | null;
}

/**
 * What decides when job $1 runs. $2 rows before it, $3 predecessors, $4 jobs that run and $5 leases at most. Only a QUEUED job
 * has a place in its lane, a range of one as in `live`. Locks nothing.
 */
export const readWaiting = statement<WaitingRow>(
  "waiting",
  `
with leases as materialized (
  select lane, job_ids from belfry.lease order by until desc limit $5
)
select to_jsonb(l) as lane_pause, to_jsonb(s) as schedule, j.preds_open,
  (select array_agg(p.id::text) from (
    select p.id from belfry.edge e join belfry.job p on p.id = e.from_id
    where e.to_id = j.id and p.finished_at is null order by p.id limit $3
  ) p) as preds,
  (select count(*)::int from (
    select from belfry.job q
    where j.state = 'QUEUED' and (q.lane, q.dispatched_at) < (j.lane, j.dispatched_at) and q.lane >= j.lane
      and q.dispatched_at is not null and q.finished_at is null and coalesce(q.state = 'QUEUED', false) and q.due_at <= belfry.now()
    order by q.lane desc, q.dispatched_at desc limit $2
  ) q) as ahead,
  (select count(*)::int from (
    select from belfry.job h where j.hold = 'slot' and h.held_on = j.held_on and h.dispatched_at is null and h.finished_at is null
      and not h.blocked and (h.due_at, h.id) < (j.due_at, j.id) limit $2
  ) h) as held_before,
  (select count(*)::int from (
    select from belfry.job r
    where j.state = 'QUEUED' and r.id = any(array(select unnest(job_ids) from leases where lane = j.lane)) and r.lease_id is not null
    order by r.id limit $4
  ) r) as running,
  (select count(*) >= $5 from leases where j.state = 'QUEUED') as is_more_running,
  (select belfry.ms(w.seen_at) from belfry.worker w where j.state = 'QUEUED' and w.lane = j.lane order by w.seen_at desc limit 1)
    as seen_at,
  (
    with recursive before as (
      select e.from_id as id from belfry.edge e where e.to_id = j.id and j.state = 'SKIPPED'
      union
      select e.from_id from before join belfry.job p on p.id = before.id and p.state = 'SKIPPED' join belfry.edge e on e.to_id = p.id
    )
    select jsonb_build_object('id', p.id::text, 'run', p.run_id::text, 'task', coalesce(p.task, p.key), 'code', p.error_code)
    from (
      select id from before
      union all
      select t.id from belfry.run r join belfry.job t on t.run_id = r.id
      where r.starter_id = j.id and r.state = 'FAILED' and t.state = 'FAILED'
    ) ended join belfry.job p on p.id = ended.id
    where p.state in ('FAILED', 'CANCELED') order by p.finished_at, p.id limit 1
  ) as failed_first,
  (select h.reason from belfry.history h where h.job_id = j.id order by h.id desc limit 1) as last_reason
from belfry.job j
left join lateral (select ${pauseColumns} from belfry.lane where name = j.lane) l on true
left join lateral (select ${pauseColumns}, enabled from belfry.schedule where id = j.schedule_id) s on true
where j.id = $1::bigint`,
);
