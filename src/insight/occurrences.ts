import { z } from "zod";
import type { Instant, JobId } from "../machine/job.ts";
import { occurrenceOutcomes, type OccurrencePlace, type OccurrenceView, scheduleLimits } from "../machine/schedule.ts";
import { count, jobId, runId } from "./atoms.ts";
import { sqlQuery } from "./sql-query.ts";

const occurrence = z.object({
  scheduleId: z.string(),
  localTime: z.string(),
  fold: z.int(),
  timezone: z.string(),
  nominalAt: z.number(),
  outcome: z.enum(occurrenceOutcomes),
  reason: z.string().nullable(),
  calendar: z.string().nullable(),
  decidedAt: z.number().nullable(),
  latenessMs: z.number().nullable(),
  effectiveAt: z.number().nullable(),
  version: count,
  jobId: jobId.nullable(),
}) satisfies z.ZodType<OccurrenceView>;

const members = `o.schedule_id as "scheduleId", o.local_time as "localTime", o.fold, o.timezone, belfry.ms(o.nominal_at) as "nominalAt", belfry.ms(o.effective_at) as "effectiveAt",
  o.outcome, o.reason, o.calendar, belfry.ms(o.decided_at) as "decidedAt", o.lateness_ms::float8 as "latenessMs", o.schedule_version as version,
  o.job_id as "jobId"`;

/** Newest first, in a total order. $1 id $2 limit $3-$6 the row to begin after, or null for the newest $7 the earliest or null. Locks nothing. */
export const readOccurrences = sqlQuery("occurrences", {
  params: (of: {
    readonly id: string;
    readonly limit: number;
    readonly after?: OccurrencePlace | undefined;
    readonly from?: Instant | undefined;
  }) => {
    const { id, limit, after, from } = of;
    return [id, limit, after?.nominalAt, after?.localTime, after?.fold, after?.timezone, from];
  },
  row: occurrence,
})(`
select ${members}
from belfry.occurrence o
where o.schedule_id = $1 and ($3::float8 is null or o.nominal_at <= belfry.at($3::float8)) and ($3::float8 is null
  or (o.nominal_at, o.local_time, o.fold, o.timezone) < (belfry.at($3::float8), $4::text, $5::smallint, $6::text))
  and ($7::float8 is null or o.nominal_at >= belfry.at($7::float8))
order by o.nominal_at desc, o.local_time desc, o.fold desc, o.timezone desc limit $2`);

/** By reading or by instant: two index scans, because an OR of both reads the whole ledger. $1 id $2 readings $3 instants $4 limit. */
export const readOccurrencesAt = sqlQuery("occurrences-at", {
  params: (of: OccurrencesAt) => [of.id, of.localTimes, of.instants, scheduleLimits.answersMax],
  row: occurrence,
})(`
with keys as (
  select schedule_id, local_time, fold, timezone from belfry.occurrence where schedule_id = $1 and local_time = any($2::text[])
  union
  select schedule_id, local_time, fold, timezone from belfry.occurrence
  where schedule_id = $1 and nominal_at = any(array(select belfry.at(i) from unnest($3::float8[]) as i))
)
select ${members}
from keys k cross join lateral (
  select * from belfry.occurrence i where i.schedule_id = k.schedule_id and i.local_time = k.local_time and i.fold = k.fold
    and i.timezone = k.timezone
) o
order by o.nominal_at, o.local_time, o.fold, o.timezone limit $4`);

export interface OccurrencesAt {
  readonly id: string;
  readonly localTimes: readonly string[];
  readonly instants: readonly Instant[];
}

/** $1 id $2 from $3 until $4 limit. Locks nothing. */
export const readOccurrencesBetween = sqlQuery("occurrences-between", {
  params: (of: { readonly id: string; readonly from: Instant; readonly until: Instant; readonly limit: number }) => [
    of.id,
    of.from,
    of.until,
    of.limit,
  ],
  row: occurrence,
})(`
select ${members}
from belfry.occurrence o
where o.schedule_id = $1 and o.nominal_at >= belfry.at($2::float8) and o.nominal_at <= belfry.at($3::float8)
order by o.nominal_at, o.local_time, o.fold, o.timezone limit $4`);

const slotHolder = z.object({
  id: jobId,
  kind: z.string(),
  scheduleId: z.string().nullable(),
  scheduledFor: z.number().nullable(),
  /** The job had ended, and the run that it had started was still going. */
  runId: runId.nullable(),
  /** When it was asked to stop; null for a run. */
  canceledAt: z.number().nullable(),
});
export type SlotHolder = Readonly<z.infer<typeof slotHolder>>;

export interface HolderOf {
  readonly id: JobId;
  readonly at: Instant;
  readonly prefix: string;
}

/**
 * Who held a slot that this job needed. Without a prefix: what has the slot that the job waits for, also when it was canceled; else, the newest job before or shortly after it with the same key that had an attempt at
 * that time, or had started a run that was open then. $1 job $2 prefix of the key $3 instant $4 ids to look back $5 ids to look ahead
 * $6 times of the schedule. Bounded: the holder is nearly always the fire before.
 * Locks nothing.
 */
export const findHolder = sqlQuery("slot-holder", {
  params: ({ id, at, prefix }: HolderOf) => {
    const { holderLookBackMax, holderLookAheadMax, holderTimesMax } = scheduleLimits;
    return [id, prefix, at, holderLookBackMax, holderLookAheadMax, holderTimesMax];
  },
  row: slotHolder,
})(`
with mine as materialized (
  select id, schedule_id, scheduled_for, array(select k from unnest(slot_keys) as k where starts_with(k, $2)) as keys,
    array(select s.job_id from belfry.slot s where $2 = '' and s.key = held_on and s.n > 0 and s.job_id is not null) as has
  from belfry.job where id = $1::bigint
), near as materialized (
  select j.id from mine m join belfry.job j on j.id between m.id - $4::bigint and m.id + $5::bigint
  where j.id <> m.id and j.slot_keys && m.keys and j.started_at is not null
  union
  select j.id from mine m cross join lateral (
    select o.job_id from belfry.occurrence o
    where o.schedule_id = m.schedule_id and o.nominal_at <= m.scheduled_for and o.job_id is not null
    order by o.nominal_at desc limit $6
  ) o join belfry.job j on j.id = o.job_id
  where j.id < m.id and j.slot_keys && m.keys
  union
  select unnest(has) from mine
)
select j.id, j.kind, j.schedule_id as "scheduleId", belfry.ms(j.scheduled_for) as "scheduledFor", r.id as "runId",
  case when j.state = 'CANCELED' then belfry.ms(j.finished_at) end as "canceledAt"
from belfry.job j left join lateral (
  select id from belfry.run
  where starter_id = j.id and j.finished_at < belfry.at($3::float8) and created_at <= belfry.at($3::float8)
    and (belfry.run.finished_at is null or belfry.run.finished_at >= belfry.at($3::float8))
  order by id desc limit 1
) r on true
where j.id = any(array(select id from near)) and (
  (j.state = 'RUNNING' and j.started_at <= belfry.at($3::float8))
  or (j.state = 'SUCCESS' and j.started_at <= belfry.at($3::float8) + interval '1 ms' and j.finished_at >= belfry.at($3::float8))
  or exists (
    select from belfry.history h where h.job_id = j.id and h.from_state = 'RUNNING'
      and h.started_at <= belfry.at($3::float8) + interval '1 ms' and h.at >= belfry.at($3::float8)
  )
  or r.id is not null or j.id = any(array(select unnest(has) from mine))
)
order by j.id = any(array(select unnest(has) from mine)) desc, j.id desc limit 1`);
