import { backfillGate } from "../admission/backfill.ts";
import { isReplacer } from "../admission/overlap.ts";
import { z } from "zod";
import type { JobId } from "../machine/job.ts";
import { reasons } from "../machine/reasons.ts";
import { endResults, occurrenceOutcomes } from "../machine/schedule.ts";
import { idText, maybeTime, runState, state, time } from "./atoms.ts";
import { phaseSql } from "./job.ts";
import { type Database, isoText, sqlQuery } from "./sql-query.ts";

/** How the job of an occurrence stands, or the run that it started. */
export const occurrenceEnd = z
  .object({
    /** Of the job; null when it was pruned and its run is still kept. */
    state: state.nullable(),
    phase: z.string().nullable().describe("As of a job; null when the job is no longer kept."),
    /** The run that the job started: it speaks for the job then. */
    run: z.object({ id: idText, state: runState }).nullable(),
    result: z.enum(endResults),
    startedAt: maybeTime,
    finishedAt: maybeTime,
    tookMs: z.number().min(0).nullable(),
    /** Its kind says what of it is hidden: the schedule may have another one by now. */
    error: z.object({ code: z.string(), message: z.string().nullable(), kind: z.string().optional() }).nullable(),
    /** Why the job was CANCELED or SKIPPED, or its run canceled, for example `expired` after a try whose worker was lost. */
    reason: z.string().nullable(),
  })
  .meta({ id: "OccurrenceEnd" });
export type OccurrenceEndReply = z.infer<typeof occurrenceEnd>;

/** The run that a job started decides: a starter that succeeded says nothing about its tasks. */
export const result = `case
    when r.state = 'DONE' then 'succeeded' when r.state = 'FAILED' then 'failed' when r.state = 'CANCELED' then 'stopped'
    when r.state is not null then 'open'
    when j.state = 'SUCCESS' then 'succeeded' when j.state = 'FAILED' then 'failed'
    when j.state in ('CANCELED', 'SKIPPED') then 'stopped' else 'open' end`;

/** The newest run of the job `o.job_id`, and the job. */
export const jobAndRun = `left join belfry.job j on j.id = o.job_id
  left join lateral (
    select id, kind, state, failed, error, created_at, finished_at, withdrawn, canceled_by from belfry.run where starter_id = o.job_id order by id desc limit 1
  ) r on true`;

/** With its end; null when neither the job nor its run is kept. A run has no error of its own when tasks failed: it says how many. */
const jobWithEnd = `${jobAndRun}
cross join lateral (
  select ${result} as result, coalesce(r.kind, j.kind) as kind, coalesce(r.error, j.error_message) as error_message,
    coalesce(r.created_at, j.started_at) as started_at,
    case when r.id is null then j.finished_at else r.finished_at end as finished_at
) e
cross join lateral (
  select case when j.id is not null or r.id is not null then jsonb_build_object(
    'state', j.state,
    'phase', case when j.id is not null then ${phaseSql("j")} end,
    'run', case when r.id is not null then jsonb_build_object('id', r.id::text, 'state', r.state) end,
    'result', e.result,
    'startedAt', ${isoText("e.started_at")},
    'finishedAt', ${isoText("e.finished_at")},
    'tookMs', greatest(belfry.ms(e.finished_at) - belfry.ms(e.started_at), case when e.finished_at < e.started_at then 0 end),
    'error', case
      when j.error_code is not null then jsonb_build_object('code', j.error_code, 'message', e.error_message, 'kind', e.kind)
      when e.result = 'failed' and r.id is not null then jsonb_build_object('code', 'RUN_FAILED',
        'message', coalesce(e.error_message, r.failed || ' of its jobs failed'), 'kind', e.kind) end,
    'reason', case when r.state in ('CANCELING', 'CANCELED') then
      coalesce(r.withdrawn, case when ${isReplacer("r.canceled_by")} then '${reasons.replaced}' else '${reasons.runCanceled}' end)
      when j.state in ('CANCELED', 'SKIPPED') then
      (select h.reason from belfry.history h where h.job_id = j.id order by h.id desc limit 1) end
  ) end as "end"
) x`;

/** $1 job ids; of those that are kept, or whose run is. Locks nothing. */
export const readOccurrenceEnds = sqlQuery("occurrence-ends", {
  params: (jobs: readonly JobId[]) => [jobs],
  row: z.object({ job: idText, end: occurrenceEnd }),
})(`
select o.job_id::text as job, x."end"
from unnest($1::bigint[]) as o (job_id) ${jobWithEnd}
where x."end" is not null`);

/** Each with the end of its job; null when it has no job, or one that is no longer kept. */
export async function withEnds<T extends { readonly jobId: JobId | null }>(
  insight: Database,
  occurrences: readonly T[],
): Promise<readonly (T & { readonly end: OccurrenceEndReply | null })[]> {
  const jobs = occurrences.flatMap(({ jobId }) => (jobId === null ? [] : [jobId]));
  const rows = jobs.length === 0 ? [] : await insight.run(readOccurrenceEnds, jobs);
  const ends = new Map<string, OccurrenceEndReply>(rows.map(({ job, end }) => [job, end]));
  return occurrences.map((each) => ({
    ...each,
    end: (each.jobId === null ? undefined : ends.get(each.jobId)) ?? null,
  }));
}

const latest = z.object({
  schedule: z.string(),
  at: time,
  outcome: z.enum(occurrenceOutcomes),
  reason: z.string().nullable(),
  latenessMs: z.number().nullable(),
  job: idText.nullable(),
  end: occurrenceEnd.nullable(),
});
export type LatestOccurrence = z.infer<typeof latest>;

/** The newest $2 past times of each schedule of $1, newest first, each with its end; what a person ran by a backfill is not late. Locks nothing. */
export const readLatestOccurrences = sqlQuery("occurrences-latest", {
  params: ({ schedules, each }: { schedules: readonly string[]; each: number }) => [schedules, each],
  row: latest,
})(`
select o.schedule_id as schedule, ${isoText("o.nominal_at")} as at, o.outcome, o.reason,
  case when j.slot_keys @> array['${backfillGate.prefix}:' || o.schedule_id] then null else o.lateness_ms::float8 end as "latenessMs",
  o.job_id::text as job, x."end"
from unnest($1::text[]) with ordinality as s (id, place) cross join lateral (
  select schedule_id, nominal_at, outcome, reason, lateness_ms, job_id
  from belfry.occurrence where schedule_id = s.id and nominal_at <= belfry.now()
  order by belfry.occurrence.nominal_at desc limit $2
) o
${jobWithEnd}
order by s.place, o.nominal_at desc`);

/** Since when each schedule of $1 fails, of its $2 newest times; `isMore`: it failed in all of them. Locks nothing. */
export const readFailingSince = sqlQuery("schedules-failing-since", {
  params: ({ schedules, each }: { schedules: readonly string[]; each: number }) => [schedules, each],
  row: z.object({ schedule: z.string(), since: maybeTime, succeededAt: maybeTime, isMore: z.boolean() }),
})(`
with seen as materialized (
  select s.id, o.nominal_at, ${result} as result, coalesce(r.finished_at, j.finished_at) as ended_at
  from unnest($1::text[]) as s (id) cross join lateral (
    select nominal_at, job_id from belfry.occurrence where schedule_id = s.id and nominal_at <= belfry.now()
    order by nominal_at desc limit $2
  ) o
  ${jobAndRun}
), good as materialized (
  select id, max(nominal_at) as nominal_at, max(ended_at) as ended_at from seen where result = 'succeeded' group by id
)
select s.id as schedule, max(g.ended_at) is null and count(*) >= $2 as "isMore", ${isoText("max(g.ended_at)")} as "succeededAt",
  ${isoText("min(s.nominal_at) filter (where s.result = 'failed' and s.nominal_at > coalesce(g.nominal_at, '-infinity'))")} as since
from seen s left join good g on g.id = s.id
group by s.id`);
export type FailingSince = z.infer<typeof readFailingSince.row>;
