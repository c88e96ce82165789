import type { Pool } from "pg";
import { defineJob } from "../src/core/define/define-job.ts";
import { defineSchedule } from "../src/core/define/define-schedule.ts";

export const manySchedules = 10_000;

const ping = defineJob({ id: "ping", run: () => {} });
const nightly = defineSchedule({
  id: "schedule",
  cron: "0 3 * * *",
  timezone: "Asia/Seoul",
  overlap: "skip",
  run: ping,
});
const spec = nightly.spec("bench", "bench");

/** Daily schedules, each with its last 30 times; the job of every hundredth schedule's last time FAILED. */
export async function loadManySchedules(pool: Pool, schedules = manySchedules): Promise<void> {
  await pool.query(
    `insert into belfry.schedule (id, app, version, source, spec, enabled, decided_until, next_at, ledger_from, created_at, updated_at)
     select 'schedule-' || to_char(n, 'FM00000'), 'bench', 1, 'code', $2::jsonb || jsonb_build_object('id', 'schedule-' || to_char(n, 'FM00000')),
       true, belfry.now(), belfry.now() + n % 1440 * interval '1 minute', belfry.now() - interval '31 days', belfry.now(), belfry.now()
     from generate_series(1, $1) n`,
    [schedules, JSON.stringify(spec)],
  );
  await pool.query(
    `insert into belfry.schedule_version (schedule_id, version, spec, from_at)
     select id, 1, spec, belfry.now() - interval '31 days' from belfry.schedule`,
  );
  await pool.query(
    `insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, schedule_version, job_id, planned_at,
       decided_at, lateness_ms)
     select s.id, 'day ' || d, 0, 'Asia/Seoul', belfry.now() - d * interval '1 day', 'FIRED', 1,
       case when d = 1 and right(s.id, 2) = '00' then (right(s.id, 5)::int / 100) * 100 else right(s.id, 5)::int * 30 + d end,
       belfry.now() - d * interval '1 day', belfry.now() - d * interval '1 day', 40
     from belfry.schedule s cross join generate_series(1, 30) d`,
  );
  await pool.query("analyze belfry.schedule, belfry.occurrence");
}
