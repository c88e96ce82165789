import type { JoinRule } from "../../../core/job/join.ts";
import type { FailurePolicy, RunState } from "../../../core/ports/run.ts";
import type { State } from "../../../core/job/state.ts";
import { statement } from "../statement.ts";

/** What these jobs know about their runs, with the outputs of predecessors that ended. Locks nothing. */
export const readInRuns = statement<{
  id: string;
  run_id: string;
  kind: string;
  key: string;
  version: number;
  input: unknown;
  task: string | null;
  condition_row: unknown;
  outputs: unknown;
}>(
  "in-runs",
  `
select j.id, j.run_id, r.kind, r.key, r.version, r.input, j.task, j.condition_row, o.outputs
from belfry.job j join belfry.run r on r.id = j.run_id
left join lateral (
  select jsonb_object_agg(p.task, jsonb_build_object('state', p.state, 'result', case p.state when 'SUCCESS' then p.result end))
    as outputs
  from belfry.edge e join belfry.job p on p.id = e.from_id
  where e.to_id = j.id and p.state >= 'SUCCESS'
) o on true
where j.id = any($1::bigint[])`,
);

export interface RunViewRow {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly version: number;
  readonly shape: string | null;
  readonly state: RunState;
  readonly on_failure: FailurePolicy;
  readonly stopped: boolean;
  readonly sealed: boolean;
  readonly parent_id: string | null;
  readonly starter_id: string | null;
  readonly input: unknown;
  readonly total: number;
  readonly ready: number;
  readonly waiting: number;
  readonly running: number;
  readonly done: number;
  readonly ok: number;
  readonly failed: number;
  readonly skipped: number;
  readonly percent: number;
  readonly created_at: number;
  readonly finished_at: number | null;
}

const runColumns = `id, kind, key, version, shape, state, on_failure, stopped, sealed, parent_id, starter_id, input, total, ready,
  waiting, running, done, ok, failed, skipped, percent, belfry.ms(created_at) as created_at, belfry.ms(finished_at) as finished_at`;

/** Locks nothing. */
export const readRun = statement<RunViewRow>(
  "run",
  `
select ${runColumns} from belfry.run_progress where id = $1::bigint`,
);

/** Newest first. $1 kinds $2 key $3 states $4 before $5 limit $6 parent; null asks for any. Locks nothing. */
export const readRuns = statement<RunViewRow>(
  "runs",
  `
select ${runColumns} from belfry.run_progress
where ($1::text[] is null or kind = any($1::text[])) and ($2::text is null or key = $2)
  and ($3::belfry.run_state[] is null or state = any($3::belfry.run_state[])) and ($4::bigint is null or id < $4::bigint)
  and ($6::bigint is null or parent_id = $6::bigint)
order by id desc limit $5`,
);

export interface TaskRow {
  readonly id: string;
  readonly task: string | null;
  readonly kind: string;
  readonly key: string | null;
  readonly state: State;
  readonly blocked: boolean;
  readonly not_taken: boolean;
  readonly join_rule: JoinRule;
  readonly preds_open: number;
  readonly preds_ok: number;
  readonly preds_bad: number;
  readonly after: string[] | null;
  readonly after_total: number;
  readonly attempt: number;
  readonly failures: number;
  readonly max_attempts: number;
  readonly result: unknown;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly started_at: number | null;
  readonly finished_at: number | null;
}

/** What is open and what has ended are two ranges of `job_run`. */
const tasksOf = (hasEnded: "0" | "1"): string => `
      select * from belfry.job
      where (run_id, (finished_at is not null)::int, id) > ($1::bigint, ${hasEnded}, $2::bigint) and run_id <= $1::bigint
        and (finished_at is not null)::int = ${hasEnded} and ($4::belfry.job_state[] is null or state = any($4::belfry.job_state[]))
      order by run_id, (finished_at is not null)::int, id limit $3`;

/**
 * In id order. $1 run $2 after $3 limit $4 states or null $5 edges of a task at most. Locks nothing. The run is a range of one,
 * so that only its own index gives the order: by an equality, a planner without statistics walks the primary key.
 */
export const readTasks = statement<TaskRow>(
  "run-jobs",
  `
select j.id, j.task, j.kind, j.key, j.state, j.blocked, j.not_taken, j.join_rule, j.preds_open, j.preds_ok, j.preds_bad,
  e.ids[1:$5::int] as after, coalesce(cardinality(e.ids), 0) as after_total, j.attempt, j.failures, j.max_attempts, j.result,
  j.error_code, j.error_message, belfry.ms(j.started_at) as started_at, belfry.ms(j.finished_at) as finished_at
from (
  select * from (
    (${tasksOf("0")})
    union all
    (${tasksOf("1")})
  ) both_ranges
  order by id limit $3
) j
cross join lateral (select array_agg(from_id order by from_id) as ids from belfry.edge where to_id = j.id) e
order by j.id`,
);
