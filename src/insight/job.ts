import { z } from "zod";
import { attemptsOf, movesOf } from "../machine/history.ts";
import { attemptOutcomes, type JobId } from "../machine/job.ts";
import { insightLimits } from "./insight-limits.ts";
import { count, idText, maybeTime, shapesOf, state, time, failure } from "./atoms.ts";
import { type Database, isoText, sqlQuery } from "./sql-query.ts";

/** The state in words for people; of a table with a job's columns. */
export const phaseSql = (j: string): string => `case
    when ${j}.state in ('RUNNING', 'SUCCESS', 'FAILED', 'CANCELED', 'SKIPPED') then lower(${j}.state::text)
    when ${j}.blocked then 'waiting for predecessors'
    when ${j}.hold = 'slot' then 'held: slot'
    when ${j}.hold = 'paused' then 'paused'
    when ${j}.due_at > belfry.now() then
      case when ${j}.failures > 0 then 'retrying at ' else 'scheduled until ' end || ${isoText(`${j}.due_at`)}
    when ${j}.state = 'QUEUED' then 'queued'
    else 'waiting for dispatch'
  end`;

/** What people read of a job: each field's shape, and the column that answers it. */
const fields = {
  id: [idText, "j.id"],
  kind: [z.string(), "j.kind"],
  key: [z.string().nullable(), "j.key"],
  state: [state, "j.state"],
  phase: [z.string(), phaseSql("j")],
  lane: [z.string(), "j.lane"],
  attempt: [count, "j.attempt"],
  failures: [count, "j.failures"],
  interruptions: [count, "j.interruptions"],
  maxAttempts: [count, "j.max_attempts"],
  payload: [z.unknown(), "j.payload"],
  result: [z.unknown(), "j.result"],
  progress: [z.number().nullable(), "j.progress"],
  error: [
    failure,
    "case when j.error_code is not null then jsonb_build_object('code', j.error_code, 'message', j.error_message) end",
  ],
  worker: [z.string().nullable(), "j.worker"],
  trace: [z.string(), "j.trace"],
  schedule: [z.string().nullable(), "j.schedule_id"],
  scheduledFor: [maybeTime, isoText("j.scheduled_for")],
  effectiveAt: [maybeTime.describe("When that time is due, if its schedule is spread."), isoText("j.effective_at")],
  createdAt: [time, isoText("j.created_at")],
  dueAt: [time, isoText("j.due_at")],
  joined: [
    count.nullable().describe("Calls that joined it after the first; null: its kind is not debounced."),
    "j.joined",
  ],
  dueAtMost: [maybeTime.describe("When a debounced job is due at the latest."), isoText("j.due_at_most")],
  batchKey: [z.string().nullable().describe("Which of its kind it waits for; null: it runs by itself."), "j.batch_key"],
  batchOf: [idText.nullable().describe("The first job of the batch of its newest attempt."), "j.batch_of"],
  startedAt: [maybeTime, isoText("j.started_at")],
  leaseUntil: [maybeTime, `(select ${isoText("until")} from belfry.lease where lease.id = j.lease_id)`],
  finishedAt: [maybeTime, isoText("j.finished_at")],
  run: [idText.nullable(), "j.run_id"],
  task: [z.string().nullable(), "j.task"],
  /** The run whose end made it. */
  followsRun: [
    idText.nullable(),
    `(select r.id::text from belfry.run r where r.id = case when j.key ~ '^then:[1-9][0-9]{0,17}$' then substr(j.key, 6)::bigint end
      and j.kind in (r.continuation->>'job', r.continuation->>'kind'))`,
  ],
  /** The slot group it waits for. */
  heldOn: [z.string().nullable(), "case j.hold when 'slot' then j.held_on end"],
  payloadBytes: [count, "pg_column_size(j.payload)"],
} as const satisfies Readonly<Record<string, readonly [z.ZodType, string]>>;

export const jobShape = shapesOf(fields);
export const job = z.object(jobShape).meta({ id: "Job" });
export type JobRow = Readonly<z.infer<typeof job>>;

const columnsOf = (over: Partial<Record<keyof typeof fields, string>> = {}): string =>
  Object.entries(fields)
    .map(([name, [, column]]) => `${over[name as keyof typeof fields] ?? column} as "${name}"`)
    .join(", ");

/** In lists large payloads and results stay where they are: a page of 500 must not weigh megabytes. */
const small = (column: string): string =>
  `case when pg_column_size(${column}) <= ${insightLimits.listPayloadBytesMax} then ${column} end`;
const listed = { payload: small("j.payload"), result: small("j.result") };
export const listedMembers = columnsOf(listed);
/** The same as one value, with ids as texts. */
export const listedJson = `(select to_json(r) from (select ${columnsOf({ ...listed, id: "j.id::text", run: "j.run_id::text", batchOf: "j.batch_of::text" })}) r)`;

/** `whole`: with payload and result, however large. Locks nothing. */
export const readRecords = sqlQuery("records", {
  params: ({ ids, whole }: { readonly ids: readonly string[]; readonly whole: boolean }) => [ids, whole],
  row: job.extend({ generation: count }),
})(`
select ${columnsOf({
  payload: `case when $2::boolean or pg_column_size(j.payload) <= ${insightLimits.listPayloadBytesMax} then j.payload end`,
  result: `case when $2::boolean or pg_column_size(j.result) <= ${insightLimits.listPayloadBytesMax} then j.result end`,
})}, j.generation
from belfry.job j where id = any($1::bigint[]) order by id desc`);

export const jobEvent = z
  .object({
    id: z.string().min(1).max(64),
    at: time,
    from: state.nullable(),
    to: state,
    attempt: count,
    generation: count,
    worker: z.string().nullable(),
    reason: z.string().nullable(),
    /** Who asked for it; null for Belfry's own moves. */
    caller: z.string().nullable(),
  })
  .meta({ id: "JobEvent" });

/** The newest kept moves of each of these jobs, the oldest first. Locks nothing. */
export const readMoves = sqlQuery("moves", {
  params: ({ ids }: { readonly ids: readonly string[] }) => [ids, insightLimits.historyRowsMax],
  row: jobEvent.extend({
    startedAt: maybeTime,
    errorCode: z.string().nullable(),
    errorMessage: z.string().nullable(),
    job: idText,
  }),
})(`
select h.id, ${isoText("h.at")} as at, h.from_state as "from", h.to_state as "to", h.attempt, h.generation, h.worker, h.reason,
  h.caller, ${isoText("h.started_at")} as "startedAt", h.error_code as "errorCode", h.error_message as "errorMessage", h.job_id as job
from unnest($1::bigint[]) as j (id)
cross join lateral (select * from belfry.history where job_id = j.id order by id desc limit $2) h
order by h.id`);

export const attempt = z
  .object({
    attempt: count,
    worker: z.string(),
    startedAt: time,
    endedAt: time,
    durationMs: z.number().min(0),
    outcome: z.enum(attemptOutcomes),
    error: failure,
  })
  .meta({ id: "Attempt" });

type JobRecord = JobRow & {
  readonly attempts: z.infer<typeof attempt>[];
  readonly events: z.infer<typeof jobEvent>[];
};

/** With their attempts and moves, by id; unknown ids are left out. `whole`: with payloads, however large. */
export async function jobsById(
  insight: Database,
  ids: readonly JobId[],
  { whole = false }: { readonly whole?: boolean } = {},
): Promise<ReadonlyMap<string, JobRecord>> {
  // One after the other: many requests at once must not need two connections each.
  const rows = await insight.run(readRecords, { ids, whole });
  const moves = await insight.run(readMoves, { ids });
  const byJob = Map.groupBy(moves, (move) => move.job);
  return new Map(
    rows.map(({ generation, ...row }) => {
      const history = (byJob.get(row.id) ?? []).map(({ job: _job, ...move }) => move);
      const attempts = attemptsOf(row, history).map(({ errorCode, errorMessage, ...ended }) => ({
        ...ended,
        durationMs: Math.max(0, Date.parse(ended.endedAt) - Date.parse(ended.startedAt)),
        error: errorCode === null ? null : { code: errorCode, message: errorMessage },
      }));
      return [row.id, { ...row, attempts, events: movesOf({ ...row, generation }, history) }];
    }),
  );
}

/** Of one attempt where its time went, and what is kept of its failure. */
export const attemptDetail = z
  .object({
    kind: z.string(),
    attempt: count,
    dueAt: maybeTime.describe("Known of the newest attempt only, as `sentAt`."),
    sentAt: maybeTime.describe("When its message was sent: the time until the start is its claiming."),
    startedAt: maybeTime,
    endedAt: maybeTime,
    logGroup: z
      .object({ region: z.string(), name: z.string() })
      .nullable()
      .describe("Where CloudWatch keeps its log; null on a local system, and once its worker is forgotten."),
    failure: z
      .object({
        stack: z.string().nullable(),
        causes: z.array(z.string()),
        response: z.object({ status: z.int(), body: z.string().nullable() }).nullable(),
        log: z
          .array(
            z.object({
              atMs: z.number().min(0).describe("Since the attempt began."),
              level: z.string(),
              text: z.string(),
            }),
          )
          .describe("The last lines that the handler logged."),
      })
      .nullable()
      .describe("Of an attempt that its handler failed; every text is cut."),
  })
  .meta({ id: "AttemptDetail" });

/**
 * What is kept of an attempt that failed, and of the newest one when it was due and sent. A name of a log group has no colon.
 * Locks nothing.
 */
export const readAttempt = sqlQuery("attempt", {
  params: (of: { readonly id: JobId; readonly attempt: number }) => [of.id, of.attempt],
  row: attemptDetail,
})(`
select j.kind, $2::int as attempt, ${isoText("n.due_at")} as "dueAt", ${isoText("n.dispatched_at")} as "sentAt",
  ${isoText("coalesce(h.started_at, n.started_at)")} as "startedAt", ${isoText("coalesce(h.at, n.finished_at)")} as "endedAt",
  case when w.log_group like '%:%' then jsonb_build_object('region', split_part(w.log_group, ':', 1),
    'name', split_part(w.log_group, ':', 2)) end as "logGroup", h.detail as failure
from belfry.job j
left join belfry.job n on n.id = j.id and n.attempt = $2::int and n.started_at is not null
  and n.state not in ('PENDING', 'QUEUED', 'RETRY_WAIT')
left join lateral (
  select started_at, at, worker, detail from belfry.history
  where job_id = j.id and attempt = $2::int and from_state = 'RUNNING' order by id desc limit 1
) h on true
left join belfry.worker w on w.id = coalesce(h.worker, n.worker)
where j.id = $1::bigint and (h.at is not null or n.id is not null)`);
