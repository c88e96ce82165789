import type pg from "pg";
import type { z } from "zod";
import { readJudgedTimes } from "../../../src/insight/objectives.ts";
import type { JobId } from "../../../src/machine/job.ts";
import type { ScheduleRow } from "../../../src/machine/schedule.ts";
import type { JobFact, RunFact } from "../../invariants/evidence.ts";
import type { ObjectiveFact } from "../../invariants/objectives.ts";
import { readTables, type JobRow, type Tables } from "../../proof/tables.ts";
import { labelsOf } from "../labels.ts";
import type { ScheduleFound, TableFacts } from "../server.ts";

const milliseconds = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

export async function factsOf(pool: pg.Pool): Promise<TableFacts> {
  const tables = await readTables(pool);
  const { rows: effects } = await pool.query<{ jobId: string; attempt: number }>(
    `select job_id::text as "jobId", attempt from effect order by n`,
  );
  const { rows: schedules } = await pool.query<{ id: string; until: number }>(
    `select id, ${milliseconds("decided_until")} as until from belfry.schedule`,
  );
  return {
    ...tables,
    jobs: tables.jobs.map(jobFact),
    runs: runFacts(tables),
    openBatches: tables.outbox,
    transactional: effects.map((row) => ({ key: "tx", ...row })),
    objectives: await objectiveFacts(pool),
    decidedUntil: new Map(schedules.map(({ id, until }) => [id, until])),
  };
}

const promises = [
  { promised: "on time", withinMs: 3_000 },
  { promised: "ends within", withinMs: 5_000 },
] as const;
const overMs = 3_600_000;

/** Of schedules whose jobs are no runs. */
async function objectiveFacts(pool: pg.Pool): Promise<readonly ObjectiveFact[]> {
  const facts: ObjectiveFact[] = [];
  for (const { promised, withinMs } of promises) {
    const [onTimeMs, endsWithinMs] = promised === "on time" ? [withinMs, null] : [null, withinMs];
    const objective = { onTimeMs, endsWithinMs, share: 0.99, overMs };
    const rows = ["minutely", "often", "lined", "newest"].map(
      (id) => ({ id, spec: { objective } }) as unknown as ScheduleRow,
    );
    const judged = await pool.query<z.infer<typeof readJudgedTimes.row>>(
      readJudgedTimes.text,
      readJudgedTimes.params({ rows, isWhole: true }),
    );
    facts.push(
      ...judged.rows.map(({ schedule, until, times: [times = 0], missed: [missed = 0] }) => {
        return { scheduleId: schedule, promised, withinMs, from: until - overMs, until, times, missed };
      }),
    );
  }
  return facts;
}

/** For the end of a job counts when it was asked for: a retry moves the due time. */
const jobFact = (row: JobRow): JobFact => ({
  ...row,
  ...labelsOf(row),
  dueAt: row.scheduledFor ?? row.createdAt,
});

/** What people resume goes on beside whatever was started since. */
function runFacts({ jobs, events, runs }: Tables): readonly RunFact[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const resumed = new Set(
    events.filter((event) => event.reason === "resumed").map((event) => byId.get(event.jobId)?.runId),
  );
  return runs.map((run) => {
    const keys = byId.get(run.starterId ?? "")?.slotKeys ?? [];
    const overlapKey = keys.find((key) => key.startsWith("overlap:")) ?? null;
    return { ...run, overlapKey: resumed.has(run.id) ? null : overlapKey };
  });
}

export async function isAtRest(pool: pg.Pool, before: number): Promise<boolean> {
  const { rows } = await pool.query<{ open: boolean }>(
    `select exists (select from belfry.job where finished_at is null and coalesce(scheduled_for, created_at) < belfry.at($1))
       or exists (select from belfry.run where finished_at is null and created_at < belfry.at($1))
       or exists (select from belfry.schedule where decided_until < belfry.at($1)) as open`,
    [before],
  );
  return rows[0]?.open === false;
}

export async function newestJobs(pool: pg.Pool, limit: number): Promise<readonly JobId[]> {
  const { rows } = await pool.query<{ id: JobId }>("select id from belfry.job order by id desc limit $1", [limit]);
  return rows.map(({ id }) => id);
}

export async function scheduleFound(pool: pg.Pool, id: string): Promise<ScheduleFound> {
  const { rows } = await pool.query<{ fromAt: number; decided: number[] }>(
    `select ${milliseconds("v.from_at")} as "fromAt", array(
       select ${milliseconds("nominal_at")} from belfry.occurrence
       where schedule_id = $1 and outcome <> 'PLANNED' and nominal_at > v.from_at order by nominal_at
     ) as decided
     from belfry.schedule_version v where v.schedule_id = $1 order by v.version desc limit 1`,
    [id],
  );
  return rows[0] ?? { fromAt: 0, decided: [] };
}
