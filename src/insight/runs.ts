import { z } from "zod";
import type { Instant, JobId, RunId } from "../machine/job.ts";
import { joinRules } from "../machine/join.ts";
import { failurePolicies, runEndChoices, type RunState } from "../machine/run.ts";
import { runLimits } from "../machine/run-limits.ts";
import type { State } from "../machine/state.ts";
import { count, failure, idText, maybeTime, runState, state, time } from "./atoms.ts";
import { isoText, sqlQuery } from "./sql-query.ts";

export const run = z
  .object({
    id: idText,
    kind: z.string(),
    key: z.string(),
    version: count,
    /** The hash of its tasks and edges; null for a fan-out. */
    shape: z.string().nullable(),
    state: runState,
    /** All its jobs are written; more may follow while false. */
    sealed: z.boolean(),
    onFailure: z.enum(failurePolicies),
    /** The share of its jobs that may fail or be canceled while it ends DONE. */
    tolerate: z.number().min(0).max(1),
    /** What follows its end; null for nothing. */
    then: z
      .object({
        kind: z.string(),
        /** `success`: only when it is DONE. `failure`: when it is FAILED. */
        on: z.enum(runEndChoices),
        /** The job that follows; null until it is written. */
        job: idText.nullable(),
        /** The job that its end wrote, which makes the payload of the other; null before that end. */
        by: idText.nullable(),
      })
      .nullable(),
    /** A task FAILED under `stop`: what still waits will be SKIPPED. */
    stopped: z.boolean(),
    /** The run it is a rerun of. */
    parent: idText.nullable(),
    /** The job that started it. */
    starter: idText.nullable(),
    input: z.unknown(),
    /** Counts of jobs, always current. */
    progress: z.object({
      total: count,
      /** May start: a message is out, or it waits for its time, a slot or the relay. */
      ready: count,
      /** Wait for predecessors. */
      waiting: count,
      running: count,
      /** Ended. */
      done: count,
      ok: count,
      failed: count,
      skipped: count,
      canceled: count,
      /** Of `total`, rounded down; 100 for a sealed run without jobs. */
      percent: z.number().min(0).max(100),
    }),
    createdAt: time,
    finishedAt: maybeTime,
  })
  .meta({ id: "Run" });
export type RunRow = Readonly<z.infer<typeof run>>;

export const task = z
  .object({
    job: idText,
    task: z.string().nullable(),
    kind: z.string(),
    key: z.string().nullable(),
    state,
    /** Waits for predecessors. */
    blocked: z.boolean(),
    /** SKIPPED because its branch was not taken. */
    notTaken: z.boolean(),
    join: z.enum(joinRules),
    /** Predecessors that must have succeeded, under `any`. */
    atLeast: z.int().nullable(),
    predecessors: z.object({ open: count, ok: count, bad: count }),
    /** The edges that lead to it, from these jobs; the first of them when it has many. */
    after: z.array(idText),
    afterTotal: count,
    attempt: count,
    failures: count,
    maxAttempts: count,
    result: z.unknown(),
    error: failure,
    startedAt: maybeTime,
    finishedAt: maybeTime,
  })
  .meta({ id: "Task" });
export type TaskRow = Readonly<z.infer<typeof task>>;

const runMembers = `id, kind, key, version, shape, state, sealed, on_failure as "onFailure", tolerate::float8 as tolerate,
  case when continuation is not null then jsonb_build_object('kind', continuation->>'job', 'on', continuation->>'on',
    'by', continued_by::text, 'job', (
      select j.id::text from belfry.job j where continued_by is not null and j.key is not null
        and belfry.key_hash(j.kind, j.key) = belfry.key_hash(continuation->>'job', 'then:' || belfry.run_progress.id)
    )) end as "then", stopped, parent_id as parent,
  starter_id as starter, input, jsonb_build_object('total', total, 'ready', ready, 'waiting', waiting, 'running', running,
    'done', done, 'ok', ok, 'failed', failed, 'skipped', skipped, 'canceled', done - ok - failed - skipped, 'percent', percent) as progress,
  ${isoText("created_at")} as "createdAt", ${isoText("finished_at")} as "finishedAt"`;

/** Locks nothing. */
export const readRun = sqlQuery("run", {
  params: (id: string) => [id],
  row: run,
})(`
select ${runMembers} from belfry.run_progress where id = $1::bigint`);

/** Each field narrows; all left out: every run. */
export interface RunFilter {
  readonly kinds?: readonly string[] | undefined;
  readonly key?: string | undefined;
  readonly states?: readonly RunState[] | undefined;
  /** Reruns of this run. */
  readonly parent?: string | undefined;
  readonly createdFrom?: Instant | undefined;
  readonly createdTo?: Instant | undefined;
  /** Runs with a smaller id: the cursor of the next page is the last id of this one. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/**
 * Newest first. $1 kinds $2 key $3 states $4 before $5 limit $6 parent $7 $8 created between; null asks for any. Ids follow the time of
 * creation but for moments: those a minute beyond each time are found by halves, and none beyond is read. Locks nothing.
 */
export const readRuns = sqlQuery("runs", {
  params: ({ kinds, key, states, before, limit, parent, ...created }: RunFilter) => {
    const { createdFrom, createdTo } = created;
    return [kinds, key, states, before, limit, parent, createdFrom, createdTo];
  },
  row: run,
})(`
with recursive looks (at, is_low, low, high) as (
  select t.*, 0::bigint, (select max(id) + 1 from belfry.run)
  from (values (belfry.at($7::float8) - interval '1 minute', true), (belfry.at($8::float8) + interval '1 minute', false)) t (at, is_low)
  where t.at is not null
  union all
  select l.at, l.is_low, case when r.created_at < l.at then r.id else l.low end, case when r.created_at < l.at then l.high else m.id end
  from looks l cross join lateral (select (l.low + l.high) / 2 as id) m
  left join lateral (select id, created_at from belfry.run where id >= m.id order by id limit 1) r on true
  where l.high - l.low > 100
)
select ${runMembers} from belfry.run_progress
where ($1::text[] is null or kind = any($1::text[])) and ($2::text is null or key = $2)
  and ($3::belfry.run_state[] is null or state = any($3::belfry.run_state[])) and ($4::bigint is null or id < $4::bigint)
  and ($6::bigint is null or parent_id = $6::bigint)
  and ($7::float8 is null or created_at >= belfry.at($7::float8) and id > (select max(low) from looks where is_low))
  and ($8::float8 is null or created_at < belfry.at($8::float8) and id < (select min(high) from looks where not is_low))
order by id desc limit $5`);

/** What is open and what has ended are two ranges of `job_run`. */
const tasksOf = (hasEnded: "0" | "1"): string => `
      select * from belfry.job
      where (run_id, (finished_at is not null)::int, id) > ($1::bigint, ${hasEnded}, $2::bigint) and run_id <= $1::bigint
        and (finished_at is not null)::int = ${hasEnded} and ($4::belfry.job_state[] is null or state = any($4::belfry.job_state[]))
      order by run_id, (finished_at is not null)::int, id limit $3`;

export interface TaskFilter {
  readonly run: RunId;
  readonly states?: readonly State[] | undefined;
  /** Jobs with a larger id: the cursor of the next page is the last id of this one. */
  readonly after?: JobId | undefined;
  readonly limit: number;
}

/**
 * In id order. $1 run $2 after $3 limit $4 states or null $5 edges of a task at most. Locks nothing. The run is a range of one,
 * so that only its own index gives the order: by an equality, a planner without statistics walks the primary key.
 */
export const readTasks = sqlQuery("run-jobs", {
  params: ({ run, after, limit, states }: TaskFilter) => [run, after ?? "0", limit, states, runLimits.edgesShownMax],
  row: task,
})(`
select j.id as job, j.task, j.kind, j.key, j.state, j.blocked, j.not_taken as "notTaken", j.join_rule as "join",
  case when j.join_rule = 'any' then coalesce(j.join_least, 1) end as "atLeast",
  jsonb_build_object('open', j.preds_open, 'ok', j.preds_ok, 'bad', j.preds_bad) as predecessors,
  coalesce(e.ids[1:$5::int], '{}') as after, coalesce(cardinality(e.ids), 0) as "afterTotal", j.attempt, j.failures,
  j.max_attempts as "maxAttempts", j.result,
  case when j.error_code is not null then jsonb_build_object('code', j.error_code, 'message', j.error_message) end as error,
  ${isoText("j.started_at")} as "startedAt", ${isoText("j.finished_at")} as "finishedAt"
from (
  select * from (
    (${tasksOf("0")})
    union all
    (${tasksOf("1")})
  ) both_ranges
  order by id limit $3
) j
cross join lateral (select array_agg(from_id order by from_id) as ids from belfry.edge where to_id = j.id) e
order by j.id`);
