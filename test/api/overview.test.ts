import { expect, test } from "vitest";
import { type JobId } from "../../src/machine/job.ts";
import type { LaneListReply, SummaryReply } from "../../src/api/shape/overview.ts";
import { settlementOf } from "../contract/store/fixture.ts";
import { openApi, startOfTime } from "./harness.ts";
import { readKindTotals } from "../../src/insight/kind-totals.ts";
import { readMinutes } from "../../src/insight/minutes.ts";
import { plantJobs } from "../support/plant-jobs.ts";
import { eachTest } from "../support/each-test.ts";
import { soon } from "../support/soon.ts";

const opened = eachTest(() => openApi());

/** The answer with whatever members it has. */
async function get(path: string): Promise<Record<string, never>> {
  const { status, body } = await opened.call("GET", path);
  expect({ path, status, body }).toMatchObject({ status: 200 });
  return body as unknown as Record<string, never>;
}

async function finish(id: JobId, to: "SUCCESS" | "FAILED", message = "no"): Promise<void> {
  const hint = { jobId: id, generation: 1, trace: "" };
  const [claimed] = (await opened.store.claim([hint], { worker: "w", alone: true })).claimed;
  if (claimed === undefined) throw new Error(`job ${id} was not claimed`);
  const failure = to === "FAILED" ? { to, failures: 1 as const, errorCode: "BROKEN", errorMessage: message } : {};
  const result = { processed: 5, succeeded: 4, failed: 1 };
  await opened.store.settle([settlementOf({ jobId: id, attempt: 1 }, { ...failure, result })], { worker: "w" });
}

async function create(body: object): Promise<JobId> {
  return (await opened.call("POST", "/jobs", body)).body.id;
}

async function added(): Promise<{ created: number; ended: number }> {
  const minutes = await opened.database.insight.run(readMinutes, { back: 1e6, kinds: null, lane: null });
  return {
    created: minutes.reduce((sum, minute) => sum + minute.created, 0),
    ended: minutes.reduce((sum, minute) => sum + minute.succeeded + minute.failed, 0),
  };
}

/** What is added up stops before the oldest transaction still open, and other tests' databases share the server's numbers. */
async function addUp(jobs: { created: number; ended: number }): Promise<void> {
  await soon(async () => {
    await opened.tally.rollUp(10);
    expect(await added()).toEqual(jobs);
  });
}

test("jobs are found by members of their payload, error, worker and due time, and sorted by due time", async () => {
  const ada = await create({ kind: "greet", payload: { name: "Ada" } });
  await create({ kind: "greet", payload: { name: "Bob" }, delay: "2h" });
  const late = await create({ kind: "greet", payload: { name: "Cyd" }, delay: "1h" });
  const ids = async (query: string) =>
    ((await get(`/jobs?${query}`))["jobs"] as unknown as { id: string }[]).map((job) => job.id);
  expect(await ids("payload.name=Ada")).toEqual([ada]);
  expect(await ids("payload.name=Eve")).toEqual([]);
  expect(await ids(`dueFrom=${new Date(startOfTime + 60_000).toISOString()}&sort=due&limit=1`)).toEqual([late]);
  await finish(ada, "FAILED");
  expect(await ids("error=BROKEN")).toEqual([ada]);
  expect(await ids("state=FAILED&kind=greet&lane=default")).toEqual([ada]);
  expect(await ids("worker=w")).toEqual([ada]);
  expect(await ids("worker=another")).toEqual([]);
});

test("a list by due time is paged by its own cursor, and refuses that of another sort", async () => {
  for (const hours of [3, 1, 2]) await create({ kind: "ping", key: `p${hours}`, delay: `${hours}h` });
  const first = await get("/jobs?sort=due&limit=2");
  expect(first).toMatchObject({ jobs: [{ key: "p1" }, { key: "p2" }], complete: true });
  const rest = await get(`/jobs?sort=due&limit=2&cursor=${String(first["nextCursor"])}`);
  expect(rest).toMatchObject({ jobs: [{ key: "p3" }], nextCursor: null });
  const wrong = await opened.call("GET", `/jobs?cursor=${String(first["nextCursor"])}`);
  expect(wrong).toMatchObject({ status: 400, body: { errors: [{ path: "?cursor" }] } });
  const ended = await opened.call("GET", "/jobs?sort=due&state=PENDING,SUCCESS");
  expect(ended).toMatchObject({ status: 400, body: { errors: [{ path: "?sort" }] } });
});

test("of jobs that are due in the same millisecond a page by due time leaves none out", async () => {
  for (const key of ["a", "b", "c"]) await create({ kind: "ping", key, delay: "1h" });
  await opened.pool.query("update belfry.job set due_at = due_at + (3 - id % 3) * interval '1 microsecond'");
  const keys: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page = await get(`/jobs?sort=due&limit=1${cursor && `&cursor=${cursor}`}`);
    keys.push(...(page["jobs"] as unknown as { key: string }[]).map((job) => job.key));
    cursor = page["nextCursor"] as unknown as string | null;
  }
  expect(keys.toSorted()).toEqual(["a", "b", "c"]);
});

test("summary, throughput, workers and lanes tell what happened", async () => {
  await opened.tally.rollUp(1_000);
  const done = await create({ kind: "ping" });
  const failed = await create({ kind: "ping" });
  await create({ kind: "ping" });
  await create({ kind: "ping", delay: "1h" });
  await finish(done, "SUCCESS");
  await finish(failed, "FAILED");
  await addUp({ created: 4, ended: 2 });
  expect(await get("/summary")).toMatchObject({
    live: { total: 2, byState: { QUEUED: 1, PENDING: 1 }, waiting: 1, scheduled: 1, held: 0, oldestWaitingMs: 0 },
    deadLetters: { count: 1, isMore: false },
    lastHour: { created: 4, succeeded: 1, failed: 1, retried: 0 },
    lanes: { total: 1, paused: 0 },
    workers: { busy: 0, lost: 0 },
    lastFailures: [{ id: failed, error: { code: "BROKEN" } }],
    minutes: null,
    schedules: null,
  });
  expect(await get("/summary?minutes=5")).toMatchObject({
    minutes: [{ at: "2026-11-21T08:00:00.000Z", created: 4, started: 2, succeeded: 1, failed: 1 }],
    schedules: { failing: { total: 0, first: null }, late: { total: 0, first: null } },
  });
  expect(await get("/throughput?minutes=5&kind=ping")).toMatchObject({
    minutes: [{ at: "2026-11-21T08:00:00.000Z", created: 4, started: 2, succeeded: 1, failed: 1 }],
  });
  expect((await get("/throughput?kind=greet"))["minutes"]).toEqual([]);
  expect(await get("/kind-figures")).toMatchObject({
    kinds: [
      { kind: "ping", lane: "default", now: { ended: 2, failed: 1, waitingMs: { p50: 1 } }, before: { ended: 0 } },
    ],
  });
  expect(await get("/lanes")).toMatchObject({
    workers: [{ id: "w", ended: 2, failed: 1, status: "idle" }],
    lanes: [{ name: "default", waiting: 1, scheduled: 1, concurrency: 2, paused: false }],
  });
});

test("events are added up once, however often and by however many", async () => {
  await opened.tally.rollUp(10);
  for (let n = 0; n < 25; n += 1) await create({ kind: "ping" });
  await Promise.all([1, 2, 3, 4].map(() => opened.tally.rollUp(10)));
  await addUp({ created: 25, ended: 0 });
  await Promise.all([1, 2, 3, 4].map(() => opened.tally.rollUp(10)));
  expect((await added()).created).toBe(25);
});

test("failures that differ in numbers only are one group, whose jobs can be listed", async () => {
  for (const user of [7, 12, 99]) {
    await finish(await create({ kind: "ping" }), "FAILED", `user ${user} has no address`);
  }
  await finish(await create({ kind: "ping" }), "FAILED", "the disk is full");
  const { groups } = (await get("/dead-letters")) as unknown as { groups: Record<string, unknown>[] };
  expect(groups).toMatchObject([
    { kind: "ping", errorCode: "BROKEN", jobs: 3, errorMessage: "user 99 has no address" },
    { jobs: 1 },
  ]);
  const fingerprint = String(groups[0]?.["fingerprint"]);
  expect((await get(`/jobs?state=FAILED&fingerprint=${fingerprint}`))["jobs"]).toHaveLength(3);
});

test("failures whose numbers are of other lengths are one group, however long their message", async () => {
  const details = "the server sent no address; ".repeat(20);
  for (const user of [7, 123_456_789]) {
    await finish(await create({ kind: "ping" }), "FAILED", `user ${user}: ${details}`);
  }
  expect(await get("/dead-letters")).toMatchObject({ groups: [{ jobs: 2 }] });
});

test("locks show the holder and the fence", async () => {
  await opened.ports.locks.take("belfry:scheduler", { owner: "task-1", rvn: "1", leaseMs: 30_000, overRvn: null });
  await opened.store.installFence({ name: "belfry:scheduler", token: 1 });
  expect(await get("/locks")).toMatchObject({
    locks: [{ name: "belfry:scheduler", holder: "task-1", fence: 1, isStoreUp: true }],
  });
});

test("every change is noted with who asked for it, and who may only look changes nothing", async () => {
  await create({ kind: "ping" });
  await opened.call("POST", "/jobs/999/cancel", {});
  const { audits } = (await get("/audits")) as unknown as { audits: Record<string, unknown>[] };
  expect(audits).toMatchObject([
    { caller: "ada", action: "POST /jobs/:id/cancel", target: "/jobs/999/cancel", status: 404 },
    { caller: "ada", action: "POST /jobs", status: 201, detail: { kind: "ping" } },
  ]);
  const of = async (target: string) => (await get(`/audits?target=${target}`))["audits"];
  expect(await of("/jobs/999")).toMatchObject([{ target: "/jobs/999/cancel" }]);
  expect(await of("/jobs/99")).toEqual([]);
  const reader = await openApi(undefined, { caller: { name: "bob", role: "read" } });
  expect(await reader.call("POST", "/jobs", { kind: "ping" })).toMatchObject({
    status: 403,
    body: { code: "needs-operate" },
  });
  expect((await reader.call("GET", "/jobs")).status).toBe(200);
  const stranger = await openApi(undefined, { caller: null });
  expect((await stranger.call("GET", "/jobs")).status).toBe(401);
});

test("metrics tell by kind how tries and jobs ended, how late they started, what batches did, and what waits", async () => {
  await opened.pool.query(`insert into belfry.archive (part) values ('audit');
    insert into belfry.audit (at, caller, action, target, status, detail, trace)
    values (belfry.now() - belfry.audit_retention() - interval '2 hours', 'ada', 'POST /jobs', '/jobs', 201, '{}', 't')`);
  await opened.tally.rollUp(10);
  await finish(await create({ kind: "ping" }), "SUCCESS");
  await finish(await create({ kind: "ping" }), "FAILED");
  await create({ kind: "greet", payload: { name: "Ada" } });
  const batches = { processed: 30, succeeded: 15, failed: 15 };
  await opened.tally.countBatches({ kind: "ping", lane: "default" }, batches);
  await addUp({ created: 3, ended: 2 });
  await soon(async () => {
    await opened.tally.rollUp(10);
    const total = (await opened.database.insight.run(readKindTotals, {})).find(({ kind }) => kind === "ping");
    expect([total?.attempts.count, total?.itemsFailed]).toEqual([2, 15]);
  });
  const response = await opened.api.fetch(new Request("http://127.0.0.1/metrics", { headers: { host: "127.0.0.1" } }));
  expect(response.headers.get("content-type")).toContain("text/plain; version=0.0.4");
  const lines = (await response.text()).split("\n");
  for (const line of [
    "# TYPE scheduler_execution_time_seconds histogram",
    'scheduler_execution_time_seconds_bucket{kind="ping",lane="default",status="success",le="0.005"} 1',
    'scheduler_execution_time_seconds_count{kind="ping",lane="default",status="failure"} 1',
    'belfry_start_lateness_seconds_count{kind="ping",lane="default"} 2',
    'belfry_attempts_total{kind="ping",lane="default",status="SUCCESS"} 1',
    'belfry_attempts_total{kind="ping",lane="default",status="FAILED"} 1',
    'belfry_attempts_total{kind="ping",lane="default",status="LOST"} 0',
    'belfry_jobs_created_total{kind="ping",lane="default"} 2',
    'belfry_jobs_ended_total{kind="ping",lane="default",state="FAILED"} 1',
    // Only batches count: what a handler returns is its own.
    'scheduler_items_processed_total{kind="ping",lane="default"} 30',
    'scheduler_items_failed_total{kind="ping",lane="default"} 15',
    'scheduler_lock_acquired_total{kind="ping",lane="default"} 0',
    'belfry_jobs{lane="default",state="QUEUED"} 1',
    'belfry_backlog_jobs{lane="default"} 1',
    "belfry_dead_letters 1",
    "belfry_runs_failed_lately 0",
    'belfry_archive_lag_seconds{part="audit"} 7200',
  ]) {
    expect(lines).toContain(line);
  }
});

test("a lane with two thousand messages out hides no other, and each count says where it stopped", async () => {
  await plantJobs(opened.pool, "QUEUED", 2_005, {
    lane: "case when n > 2002 then 'mail' else 'default' end",
    dispatched_at: "belfry.now() + n * interval '1 ms'",
  });
  await create({ kind: "greet", payload: { name: "Ada" }, delay: "2h" });
  const { lanes, isMore } = (await get("/lanes")) as unknown as LaneListReply;
  expect(isMore).toBe(true);
  const shown = lanes.map(({ name, waiting, scheduled, atLeast }) => ({ name, waiting, scheduled, atLeast }));
  expect(shown).toContainEqual({
    name: "default",
    waiting: 2_000,
    scheduled: 1,
    atLeast: ["waiting", "running", "scheduled"],
  });
  expect(shown).toContainEqual({ name: "mail", waiting: 3, scheduled: 0, atLeast: [] });
  const { live } = (await get("/summary")) as unknown as SummaryReply;
  const atLeast = ["QUEUED", "RUNNING", "waiting", "scheduled"];
  expect(live).toMatchObject({ byState: { PENDING: 1, QUEUED: 2_003 }, isMore: true, atLeast });
  const response = await opened.api.fetch(new Request("http://127.0.0.1/metrics", { headers: { host: "127.0.0.1" } }));
  const metrics = (await response.text()).split("\n");
  expect(metrics).toContain('belfry_jobs{lane="default",state="QUEUED"} 2000');
  expect(metrics.filter((line) => line.startsWith("belfry_jobs_at_least"))).toEqual([
    'belfry_jobs_at_least{lane="default",part="out"} 1',
  ]);
});

test("a lane that runs a thousand jobs still shows what waits behind them", async () => {
  const ago = (seconds: string) => ({
    due_at: `belfry.now() - (${seconds}) * interval '1 second'`,
    dispatched_at: `belfry.now() - (${seconds}) * interval '1 second'`,
  });
  await plantJobs(opened.pool, "RUNNING", 1_001, ago("2000 - n"));
  await plantJobs(opened.pool, "QUEUED", 2, ago("999 - n"));
  const { live } = (await get("/summary")) as unknown as SummaryReply;
  expect(live).toMatchObject({ byState: { RUNNING: 1_001, QUEUED: 2 }, oldestWaitingMs: 998_000, isMore: true });
});
