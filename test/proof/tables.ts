import type pg from "pg";
import type {
  AttemptFact,
  EventFact,
  OutboxBatchFact,
  JobFact,
  OccurrenceFact,
  RunFact,
  SlotFact,
} from "../invariants/evidence.ts";

/** A row of `belfry.job` as plain data. Times are milliseconds since 1970 with their fraction. */
export interface JobRow extends Omit<JobFact, "mark" | "parentId" | "parentAttempt" | "followsRun" | "runId"> {
  readonly lane: string;
  readonly blocked: boolean;
  readonly interruptions: number;
  readonly deadLetters: number;
  readonly slotKeys: readonly string[] | null;
  readonly scheduledFor: number | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly payload: unknown;
  readonly worker: string | null;
  readonly createdAt: number;
  readonly runId: string | null;
}

export interface EventRow extends EventFact {
  readonly id: string;
}

export interface AttemptRow extends AttemptFact {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly errorCode: string | null;
}

/** Everything the checker looks at, read in one snapshot. */
export interface Tables {
  readonly now: number;
  readonly jobs: readonly JobRow[];
  readonly events: readonly EventRow[];
  readonly attempts: readonly AttemptRow[];
  readonly occurrences: readonly OccurrenceFact[];
  readonly slots: readonly (SlotFact & { readonly n: number; readonly keptFor: number | null })[];
  readonly outbox: readonly (OutboxBatchFact & { readonly id: string })[];
  readonly runs: readonly RunFact[];
  readonly quarantine: readonly { readonly lane: string; readonly body: string }[];
}

const milliseconds = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

const texts = {
  jobs: `select id::text, kind, key, lane, state, hold, blocked, generation, attempt, failures, interruptions,
      dead_letters as "deadLetters", max_attempts as "maxAttempts", slot_keys as "slotKeys", schedule_id as "scheduleId",
      ${milliseconds("scheduled_for")} as "scheduledFor", error_code as "errorCode", error_message as "errorMessage",
      payload, worker, ${milliseconds("due_at")} as "dueAt", ${milliseconds("created_at")} as "createdAt", run_id::text as "runId"
    from belfry.job order by job.id`,
  events: `select event_id || '.' || place as id, job_id::text as "jobId", ${milliseconds("at")} as at, from_state as "from",
      to_state as "to", attempt, generation, worker, reason
    from belfry.move order by event_id, place`,
  attempts: `select job_id::text as "jobId", attempt, worker, ${milliseconds("started_at")} as "startedAt",
      ${milliseconds("ended_at")} as "endedAt", outcome, error_code as "errorCode"
    from belfry.attempt order by job_id, attempt`,
  occurrences: `select schedule_id as "scheduleId", ${milliseconds("nominal_at")} as "nominalAt", outcome, reason,
      job_id::text as "jobId"
    from belfry.occurrence order by schedule_id, nominal_at`,
  slots: `select key, n, job_id::text as "jobId", kept_for as "keptFor", ${milliseconds("free_from")} as "freeFrom"
    from belfry.slot where n > 0 order by key, n`,
  outbox: `select id::text, (select jsonb_agg(jsonb_build_object('jobId', job::text, 'generation', gen))
      from unnest(job_ids, generations) as m (job, gen)) as members
    from belfry.outbox order by outbox.id`,
  runs: `select r.id::text, r.state, r.sealed, r.on_failure as "onFailure", ${milliseconds("r.created_at")} as "createdAt",
      ${milliseconds("r.finished_at")} as "finishedAt",
      r.starter_id::text as "starterId", r.withdrawn is null and
        coalesce(r.continuation ->> 'on' in ('end', case r.state when 'DONE' then 'success' when 'FAILED' then 'failure' end), false) as "isFollowed", p.total, p.ok, p.failed, p.skipped, coalesce(t.tasks, '[]') as tasks
    from belfry.run r join belfry.run_progress p on p.id = r.id left join lateral (
      select jsonb_agg(jsonb_build_object('jobId', j.id::text, 'state', j.state, 'notTaken', j.not_taken, 'blocked', j.blocked,
        'join', case when j.join_least is null then to_jsonb(j.join_rule) else jsonb_build_object('atLeast', j.join_least) end, 'preds', jsonb_build_object('open', j.preds_open, 'ok', j.preds_ok, 'bad', j.preds_bad),
        'after', (select coalesce(jsonb_agg(e.from_id::text), '[]') from belfry.edge e where e.to_id = j.id))) as tasks
      from belfry.job j where j.run_id = r.id
    ) t on true
    order by r.id`,
  quarantine: `select lane, body from belfry.quarantine order by id`,
} as const;

export async function readTables(pool: pg.Pool): Promise<Tables> {
  const client = await pool.connect();
  try {
    await client.query("begin transaction isolation level repeatable read, read only");
    const rows = async <R>(text: string): Promise<readonly R[]> => (await client.query(text)).rows as R[];
    const [clock] = await rows<{ now: number }>(`select ${milliseconds("belfry.now()")} as now`);
    const tables: Tables = {
      now: clock?.now ?? 0,
      jobs: await rows<JobRow>(texts.jobs),
      events: await rows<EventRow>(texts.events),
      attempts: await rows<AttemptRow>(texts.attempts),
      occurrences: await rows<OccurrenceFact>(texts.occurrences),
      slots: await rows<Tables["slots"][number]>(texts.slots),
      outbox: await rows<Tables["outbox"][number]>(texts.outbox),
      runs: await rows<RunFact>(texts.runs),
      quarantine: await rows<Tables["quarantine"][number]>(texts.quarantine),
    };
    await client.query("commit");
    return tables;
  } finally {
    client.release();
  }
}
