import { z } from "zod";
import { blackoutEnd } from "../admission/blackout.ts";
import { circuitKey } from "../admission/circuit.ts";
import { closedOf } from "../admission/gates.ts";
import { isBefore } from "../admission/order.ts";
import type { JobId } from "../machine/job.ts";
import { pauseValue } from "../machine/pause.ts";
import type { WaitingFacts } from "../machine/waiting.ts";
import { boundedCount, count, idText, jobId, runId, runState } from "./atoms.ts";
import { steps, stepsValue } from "./bulk.ts";
import { pause } from "./pause.ts";
import { insightLimits } from "./insight-limits.ts";
import { sqlQuery } from "./sql-query.ts";

const upTo = (most: string): string => `'count', least(count(*), ${most}::int), 'isMore', count(*) > ${most}::int`;
const { predecessorsShown, runningCountedMax, countedRowsMax, redrivesReadMax } = insightLimits;

/**
 * What decides when job $1 runs. $2 rows before it, $3 predecessors, $4 jobs that run, $5 leases and $6 redrives at most. Only a QUEUED job
 * has a place in its lane, a range of one as in `live`. Locks nothing.
 */
export const readWaiting = sqlQuery("waiting", {
  params: (of: { readonly id: JobId; readonly most: number }) => [
    of.id,
    of.most,
    predecessorsShown,
    runningCountedMax,
    countedRowsMax,
    redrivesReadMax,
  ],
  row: z.object({
    closedName: z.string().nullable(),
    laneRefusal: z.string().nullable(),
    lanePause: pause,
    blackoutUntil: z.number().nullable(),
    circuit: z
      .object({
        name: z.string(),
        ended: count,
        failed: count,
        code: z.string(),
        until: z.number().nullable(),
        probe: jobId.nullable(),
      })
      .nullable(),
    schedule: z.object({ pause, enabled: z.boolean() }).nullable(),
    openPredecessors: count,
    awaitsSignal: z.boolean(),
    predecessors: z.array(jobId),
    ahead: boundedCount,
    heldBefore: boundedCount,
    runningInLane: boundedCount,
    batchOthers: count,
    workerSeenAt: z.number().nullable(),
    failedFirst: z.object({ jobId, runId, task: z.string(), errorCode: z.string().nullable() }).nullable(),
    started: z.object({ runId, state: runState, failed: count, done: count, total: count }).nullable(),
    redrive: z.object({ id: idText, isOver: z.boolean(), changed: count, steps }).nullable(),
    lastReason: z.string().nullable(),
    now: z.number(),
  }) satisfies z.ZodType<WaitingFacts>,
})(`
with leases as materialized (
  select lane, job_ids from belfry.lease order by until desc limit $5::int
)
select l.name as "closedName", l.refusal as "laneRefusal", l.pause as "lanePause", l.blackout as "blackoutUntil",
  (
    select jsonb_build_object('name', c.name, 'ended', c.ended, 'failed', c.failed, 'code', c.code, 'until', belfry.ms(c.open_until),
      'probe', c.probe_id::text)
    from belfry.circuit c where ${circuitKey("c.name")} = j.held_on
  ) as circuit,
  case when s.enabled is not null then jsonb_build_object('pause', s.pause, 'enabled', s.enabled) end as schedule,
  j.preds_open as "openPredecessors", j.awaits_signal and j.signaled_at is null as "awaitsSignal",
  array(
    select p.id::text from belfry.edge e join belfry.job p on p.id = e.from_id
    where e.to_id = j.id and p.finished_at is null order by p.id limit $3::int
  ) as predecessors,
  (select jsonb_build_object(${upTo("$2")}) from (
    select from belfry.job q
    where j.state = 'QUEUED' and (q.lane, q.dispatched_at) < (j.lane, j.dispatched_at) and q.lane >= j.lane
      and q.dispatched_at is not null and q.finished_at is null and coalesce(q.state = 'QUEUED', false) and q.due_at <= belfry.now()
    order by q.lane desc, q.dispatched_at desc limit $2::int + 1
  ) q) as ahead,
  (select jsonb_build_object(${upTo("$2")}) from (
    select from belfry.job h where j.hold = 'slot' and h.held_on = j.held_on and h.dispatched_at is null and h.finished_at is null
      and not h.blocked and ${isBefore("h", "j")} limit $2::int + 1
  ) h) as "heldBefore",
  (select jsonb_build_object('count', least(count(*), $4::int),
    'isMore', count(*) > $4::int or (j.state = 'QUEUED' and (select count(*) >= $5::int from leases)))
  from (
    select from belfry.job r
    where j.state = 'QUEUED' and r.id = any(array(select unnest(job_ids) from leases where lane = j.lane)) and r.lease_id is not null
    order by r.id limit $4::int + 1
  ) r) as "runningInLane",
  (select count(*) from (
    select from belfry.job b
    where b.kind = j.kind and b.batch_key = j.batch_key and b.batch_key is not null and b.finished_at is null and b.id <> j.id
      and case j.state when 'RUNNING' then b.state = 'RUNNING' and b.batch_of = j.batch_of
        else b.state in ('PENDING', 'QUEUED', 'RETRY_WAIT') and b.held_on = '' end
    limit $2::int
  ) b)::float8 as "batchOthers",
  (select belfry.ms(w.seen_at) from belfry.worker w where j.state = 'QUEUED' and w.lane = j.lane order by w.seen_at desc limit 1)
    as "workerSeenAt",
  (
    with recursive before as (
      select e.from_id as id from belfry.edge e where e.to_id = j.id and j.state = 'SKIPPED'
      union
      select e.from_id from before join belfry.job p on p.id = before.id and p.state = 'SKIPPED' join belfry.edge e on e.to_id = p.id
    )
    select jsonb_build_object('jobId', p.id::text, 'runId', p.run_id::text, 'task', coalesce(p.task, p.key), 'errorCode', p.error_code)
    from (
      select id from before
      union all
      select t.id from belfry.run r join belfry.job t on t.run_id = r.id
      where r.starter_id = j.id and r.state = 'FAILED' and t.state = 'FAILED'
    ) ended join belfry.job p on p.id = ended.id
    where p.state in ('FAILED', 'CANCELED') order by p.finished_at, p.id limit 1
  ) as "failedFirst",
  (
    select jsonb_build_object('runId', r.id::text, 'state', r.state, 'failed', r.failed, 'done', r.done,
      'total', r.total)
    from belfry.run_progress r where r.starter_id = j.id order by r.id desc limit 1
  ) as started,
  (
    select jsonb_build_object('id', b.id::text, 'isOver', b.state <> 'RUNNING', 'changed', b.changed, 'steps', ${stepsValue})
    from (select * from belfry.bulk order by id desc limit $6::int) b
    where j.state = 'FAILED' and belfry.fingerprint(j.kind, j.error_code, j.error_message) = any(b.groups) order by b.id desc limit 1
  ) as redrive,
  (select h.reason from belfry.history h where h.job_id = j.id order by h.id desc limit 1) as "lastReason",
  belfry.ms(belfry.now()) as now
from belfry.job j
left join lateral (${closedOf(`l.name, ${pauseValue} as pause, belfry.ms(${blackoutEnd}) as blackout`)}) l on true
left join lateral (select ${pauseValue} as pause, enabled from belfry.schedule where id = j.schedule_id) s on true
where j.id = $1::bigint`);
