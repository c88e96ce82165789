import { z } from "zod";
import { deliveryLimits } from "../machine/delivery-limits.ts";
import { insightLimits } from "./insight-limits.ts";
import { count, idText, maybeTime, time } from "./atoms.ts";
import { isoText, sqlQuery } from "./sql-query.ts";

export const worker = z
  .object({
    id: z.string(),
    lane: z.string().nullable(),
    version: z.string().nullable(),
    /** `busy` runs something; `lost` runs something past its lease; `silent` was not seen for a minute. */
    status: z.enum(["busy", "idle", "silent", "lost"]),
    startedAt: maybeTime,
    seenAt: time,
    ended: count,
    failed: count,
    lost: count,
    lostAt: maybeTime,
    running: z.array(
      z.object({
        job: idText,
        kind: z.string(),
        attempt: count,
        progress: z.number().nullable(),
        startedAt: time,
        beatAt: time,
        leaseUntil: time,
      }),
    ),
  })
  .meta({ id: "Worker" });
export type WorkerReply = z.infer<typeof worker>;

const { workersShownMax, workerJobsShownMax } = insightLimits;

/**
 * Workers seen in the last $1 milliseconds, and all that run something. $2 workers, $3 running jobs looked at, of them $4 of each
 * worker, at most. A beat is when a lease was last extended. Locks nothing.
 */
export const readWorkers = sqlQuery("workers", {
  params: (seenMs: number) => [seenMs, workersShownMax, deliveryLimits.runningSampleMax, workerJobsShownMax],
  row: worker,
})(`
with leases as materialized (
  select * from belfry.lease order by until limit $3
), running as materialized (
  select l.worker, l.lane, j.id, j.kind, j.attempt, j.progress, j.started_at, l.until,
    least(belfry.now(), greatest(j.started_at, l.until - belfry.span(l.ms))) as beat_at,
    row_number() over (partition by l.worker order by j.id) as place
  from belfry.job j join leases l on l.id = j.lease_id
  where j.id = any(array(select unnest(job_ids) from leases limit $3))
), busy as materialized (
  select worker as id, min(lane) as lane, max(beat_at) as beat_at, min(until) as until,
    jsonb_agg(jsonb_build_object('job', id::text, 'kind', kind, 'attempt', attempt, 'progress', progress,
      'startedAt', ${isoText("started_at")}, 'beatAt', ${isoText("beat_at")}, 'leaseUntil', ${isoText("until")}) order by id)
      filter (where place <= $4) as running
  from running group by worker
), known as materialized (
  select * from belfry.worker where seen_at >= belfry.now() - belfry.span($1::float8) order by seen_at desc limit $2
)
select id, coalesce(k.lane, b.lane) as lane, k.version,
  case when b.until < belfry.now() then 'lost' when b.id is not null then 'busy'
    when k.seen_at < belfry.now() - interval '1 minute' then 'silent' else 'idle' end as status,
  ${isoText("k.started_at")} as "startedAt", ${isoText("greatest(k.seen_at, b.beat_at)")} as "seenAt",
  coalesce(k.ended, 0)::float8 as ended, coalesce(k.failed, 0)::float8 as failed, coalesce(k.lost, 0)::float8 as lost,
  ${isoText("k.lost_at")} as "lostAt", coalesce(b.running, '[]') as running
from known k full join busy b using (id)
order by greatest(k.seen_at, b.beat_at) desc, id limit $2`);

/** Once for each worker process; the events show what it does. $1 id $2 lane $3 version $4 log group, as `region:name`. Locks its row. */
export const writeWorker = sqlQuery("worker-write", {
  params: (of: { id: string; lane: string; version: string; logGroup?: string | null }) => [
    of.id,
    of.lane,
    of.version,
    of.logGroup ?? null,
  ],
})(`
insert into belfry.worker as w (id, lane, version, log_group, started_at, seen_at) values ($1, $2, $3, $4, belfry.now(), belfry.now())
on conflict (id) do update set version = excluded.version, log_group = excluded.log_group`);
