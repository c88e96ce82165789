import type { PoolClient } from "pg";
import { z } from "zod";
import { graphPlan } from "../support/graph-plan.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import type { openApi } from "../api/harness.ts";
import { past } from "./past.ts";

type Opened = Awaited<ReturnType<typeof openApi>>;

const mail = defineJob({
  id: "send-open-mail",
  lane: "mail",
  payload: z.object({
    reportId: z.int().min(1).describe("Which report"),
    format: z.enum(["csv", "pdf"]).optional(),
    to: z.array(z.string()).optional(),
  }),
  run() {},
});
const report = defineJob({ id: "export-report", concurrency: 5, run() {} });
const cleanUp = defineJob({ id: "clean-up", run() {} });
const settlement = defineGraph({
  id: "settlement",
  version: 3,
  tasks(task) {
    const run = () => null;
    const orders = task("orders", { run });
    const refunds = task("refunds", { run });
    const match = task("match", { after: { orders, refunds }, run });
    const review = task("review", { after: { match }, run });
    const publish = task("publish", { after: { review }, run });
    task("notify", { after: { publish }, run });
  },
});
const schedules = [
  defineSchedule({ id: "nightly-export", cron: "0 8 * * *", timezone: "Asia/Seoul", run: report }),
  defineSchedule({ id: "sweep", cron: "* * * * *", timezone: "UTC", run: cleanUp, overlap: "skip" }),
  defineSchedule({ id: "outbox-retry", every: "5m", run: cleanUp }),
  defineSchedule({
    id: "spring",
    cron: "cron(30 2 ? 3 1L *)",
    timezone: "Europe/Berlin",
    dst: { gap: "skip" },
    run: cleanUp,
  }),
  defineSchedule({ id: "settlement", cron: "0 6 * * *", timezone: "UTC", run: settlement }),
];
export const consoleApp = defineApp({ name: "scene", jobs: [mail, report, cleanUp, settlement], schedules });

const now = Date.now();
export const ago = (seconds: number): string => new Date(now - seconds * 1_000).toISOString();

/** Rows as no statement would write them; what is left out of a row is null, and of all rows has its default. */
export async function insert(client: Pick<PoolClient, "query">, table: string, rows: readonly object[]): Promise<void> {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].join(", ");
  await client.query(
    `insert into belfry.${table} (${columns}) overriding system value
     select ${columns} from jsonb_populate_recordset(null::belfry.${table}, $1::jsonb)`,
    [JSON.stringify(rows)],
  );
}

/** Lets rows be planted that no statement writes. */
export async function planting({ pool }: Opened, plant: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  await client.query("set session_replication_role = replica");
  await plant(client);
  await client.query("reset session_replication_role");
  client.release();
}

const final = ["SUCCESS", "FAILED", "CANCELED", "SKIPPED"];
const failure = { error_code: "HTTP_503", error_message: "the mail server answered 503 Service Unavailable" };
const noSpace = { error_code: "ENOSPC", error_message: "no space left on device" };

/** A row of `job`: of `send-open-mail` in lane `mail`, by default. */
export function jobRow(id: number, state: string, over: object = {}): object {
  const hasRun = !["PENDING", "QUEUED", "SKIPPED"].includes(state);
  return {
    id,
    kind: "send-open-mail",
    key: `report:${id}:csv`,
    payload: { reportId: id, format: "csv" },
    lane: "mail",
    state,
    event_id: 1,
    hold: "none",
    held_on: "",
    generation: hasRun ? 2 : 0,
    attempt: hasRun ? 2 : 0,
    failures: state === "FAILED" || state === "RETRY_WAIT" ? 2 : 0,
    max_attempts: 4,
    lease_ms: 20_000,
    retention_ms: 2_592_000_000,
    trace: "0b5c2f",
    created_at: ago(400),
    due_at: state === "PENDING" ? ago(-3_600) : ago(390),
    worker: hasRun ? "worker-0" : null,
    started_at: hasRun ? ago(120) : null,
    finished_at: final.includes(state) ? ago(60) : null,
    dispatched_at: state === "PENDING" || state === "RETRY_WAIT" ? null : ago(390),
    blocked: false,
    ...(state === "FAILED" ? failure : { error_code: null, error_message: null }),
    ...over,
  };
}

/** What every screen shows something of. The jobs 1 FAILED, 2 RUNNING and 3, which waits for a slot; the runs 7 FAILED and 8 RUNNING. */
export async function plantConsole(opened: Opened): Promise<void> {
  const { pool, store } = opened;
  await store.installSchedules(schedules.map((schedule) => schedule.spec("dev", "scene")));
  await pool.query(
    "update belfry.schedule set paused_at = belfry.now(), paused_until = 'infinity', paused_by = 'ana' where id = 'outbox-retry'",
  );
  await pool.query(
    "update belfry.schedule set ledger_from = belfry.now() - interval '2 days', decided_until = belfry.now()",
  );
  await pool.query("update belfry.schedule_version set from_at = belfry.now() - interval '2 days'");
  await pool.query(
    `select setval(pg_get_serial_sequence('belfry.run', 'id'), 6), setval(pg_get_serial_sequence('belfry.job', 'id'), 299)`,
  );
  for (const key of ["2026-11-20", "2026-11-21"])
    await store.startRun(await graphPlan([consoleApp], "settlement", { key }));
  await past(pool, "nightly-export", ["SUCCESS", "SKIPPED", "SUCCESS", "FAILED", "FAILED", "FAILED"]);
  await past(pool, "sweep", ["QUEUED"]);
  await planting(opened, async (client) => {
    await plantJobs(client);
    await plantRun(client);
    await plantSystem(client);
    await plantFigures(client);
  });
  await pool.query(`select setval(pg_get_serial_sequence('belfry.job', 'id'), 1000)`);
}

async function plantJobs(client: PoolClient): Promise<void> {
  const states = ["PENDING", "SUCCESS", "QUEUED", "CANCELED", "SKIPPED", "RETRY_WAIT"];
  const report = { kind: "export-report", lane: "default", payload: {} };
  await insert(client, "job", [
    jobRow(1, "FAILED", { error_code: "HTTP_502" }),
    jobRow(2, "RUNNING", { ...report, lease_id: 1, progress: 0.4, started_at: ago(20) }),
    jobRow(3, "PENDING", { ...report, hold: "slot", held_on: "cap:export-report", due_at: ago(30) }),
    ...Array.from({ length: 41 }, (_, n) => jobRow(10 + n, "FAILED")),
    ...Array.from({ length: 3 }, (_, n) => jobRow(60 + n, "FAILED", { ...report, ...noSpace })),
    ...Array.from({ length: 40 }, (_, n) => jobRow(401 + n, states[n % 6] ?? "")),
  ]);
  await insert(
    client,
    "history",
    [
      { job_id: 1, at: ago(400), to_state: "PENDING", attempt: 0, generation: 0 },
      { job_id: 1, at: ago(370), from_state: "RUNNING", to_state: "RETRY_WAIT", ...failed(1, 380) },
      { job_id: 1, at: ago(60), from_state: "RUNNING", to_state: "FAILED", ...failed(2, 120) },
    ].map((row, id) => ({ id, ...row })),
  );
}

const failed = (attempt: number, seconds: number): object => {
  return { attempt, generation: attempt, worker: "worker-0", started_at: ago(seconds), ...failure };
};

/** Of run 7 the third task failed: what follows it was skipped. */
async function plantRun(client: PoolClient): Promise<void> {
  await client.query(
    `update belfry.job set state = s.state::belfry.job_state, attempt = 1, generation = 1, blocked = false, preds_open = 0,
       started_at = case when s.state <> 'SKIPPED' then belfry.now() - interval '400 seconds' end,
       finished_at = belfry.now() - (330 - 40 * s.n) * interval '1 second',
       error_code = case s.state when 'FAILED' then 'MISMATCH' end,
       error_message = case s.state when 'FAILED' then '3 orders have no refund' end
     from unnest(array['SUCCESS', 'SUCCESS', 'FAILED', 'SKIPPED', 'SKIPPED', 'SKIPPED']) with ordinality s (state, n)
     where run_id = 7 and id = 299 + s.n`,
  );
  await client.query(
    `update belfry.run set state = 'FAILED', done = 6, ok = 2, failed = 1, skipped = 3, starter_id = 90,
       created_at = belfry.now() - interval '500 seconds', finished_at = belfry.now() - interval '100 seconds' where id = 7`,
  );
  await insert(client, "job", [
    jobRow(90, "SUCCESS", { kind: "settlement", payload: {}, lane: "default", schedule_id: "settlement" }),
  ]);
}

async function plantSystem(client: PoolClient): Promise<void> {
  await insert(client, "lane", [{ name: "mail", paused_at: ago(60), paused_until: "infinity", paused_by: "ana" }]);
  const use = { on_refusal: "hold", reason: "cap" };
  await insert(client, "slot_group", [
    { key: "cap:export-report", size: 5, ...use },
    { key: "lock:outbox", size: 1, ...use },
  ]);
  await insert(
    client,
    "slot",
    Array.from({ length: 5 }, (_, n) => ({ key: "cap:export-report", n: n + 1, job_id: 2, attempt: 2 })),
  );
  await insert(client, "lease", [
    { id: 1, worker: "worker-0", lane: "default", ms: 3_600_000, until: ago(-3_600), solo: false, job_ids: [2] },
  ]);
  const seen = { lane: "default", version: "1.4.0", started_at: ago(900), ended: 120, failed: 1, lost: 0 };
  await insert(
    client,
    "worker",
    [0, 30, 60, 90].map((seconds, n) => ({ id: `worker-${n}`, seen_at: ago(seconds), ...seen })),
  );
  await insert(client, "lock_fence", [
    { name: "scheduler", token: 41, installed_at: ago(20), passed_at: ago(2) },
    { name: "rule:sweep", token: 9, installed_at: ago(30) },
  ]);
  const targets = [
    "/jobs/1/retry",
    "/schedules/nightly-export/pause",
    "/runs/7/retry",
    "/lanes/default/pause",
    "/dead-letters/redrive",
  ];
  await insert(
    client,
    "audit",
    targets.map((target, id) => {
      const detail = { reason: "the source is being moved" };
      return { id, at: ago(60), caller: "ana", action: `POST ${target}`, target, status: 200, detail, trace: "t-2" };
    }),
  );
}

async function plantFigures(client: PoolClient): Promise<void> {
  await client.query(
    `insert into belfry.minute (at, kind, lane, created, started, succeeded, failed, retried, run_ms)
     select date_trunc('minute', belfry.now()) - n * interval '1 minute', 'send-open-mail', 'mail', 10, 10, 8 + n % 7, n % 20 / 19, 1, 800
     from generate_series(0, 59) n`,
  );
  await client.query(
    `insert into belfry.hour (at, kind, lane, bucket, waited, ran, failed)
     select date_trunc('hour', belfry.now()) - hours * interval '1 hour', kind, 'default', bucket, 90, 90, failed
     from (values (2, 'send-open-mail', 9, 3), (200, 'send-open-mail', 7, 3), (2, 'export-report', 12, 30)) v (hours, kind, bucket, failed)`,
  );
}

/** Run 9: this many tasks in layers of 1,000; one failed and those behind it were skipped. */
export const plantLargeRun = (opened: Opened, total: number): Promise<void> =>
  planting(opened, async (client) => {
    await client.query(
      `insert into belfry.run (id, kind, key, version, state, sealed, total, done, ok, failed, skipped, created_at, finished_at)
       overriding system value
       select 9, 'load', '2026', 1, 'FAILED', true, $1, $1, $1::int - $1 / 1000, 1, $1 / 1000 - 1, belfry.now() - interval '1 hour', belfry.now()`,
      [total],
    );
    await client.query(
      `insert into belfry.job (id, run_id, task, kind, payload, lane, state, event_id, due_at, attempt, max_attempts, lease_ms, retention_ms,
         trace, created_at, started_at, finished_at, error_code, error_message)
       overriding system value
       select 10000 + n, 9, 'load-partition-of-table-orders-' || lpad(n::text, 5, '0'), 'load', 'null', 'default',
         case when n = 17 then 'FAILED' when n % 1000 = 17 then 'SKIPPED' else 'SUCCESS' end::belfry.job_state, 1, belfry.now(), 1, 4, 20000,
         2592000000, 't', belfry.now() - interval '1 hour', belfry.now() - interval '1 hour' + n / 10 * interval '100 ms',
         belfry.now() - interval '1 hour' + (n / 10 * 100 + 60 + n % 7 * 20) * interval '1 ms',
         case n when 17 then 'TIMEOUT' end, case n when 17 then '3 orders have no refund' end
       from generate_series(0, $1::int - 1) n`,
      [total],
    );
    await client.query(
      `insert into belfry.edge (from_id, to_id, run_id)
       select 9000 + n, 10000 + n, 9 from generate_series(1000, $1::int - 1) n`,
      [total],
    );
    await client.query("analyze belfry.job, belfry.edge");
  });
