import { expect, test } from "vitest";
import type { ScheduleOutcomeListReply } from "../../src/api/shape/schedule-outcome.ts";
import type { UpcomingReply } from "../../src/api/shape/upcoming.ts";
import { insightLimits } from "../../src/insight/insight-limits.ts";
import { openApi } from "./harness.ts";
import type { OccurrenceCountsReply } from "../../src/insight/occurrence-counts.ts";
import { past } from "../console/past.ts";
import { plantJobs } from "../support/plant-jobs.ts";
import { eachTest } from "../support/each-test.ts";

type Quarter = OccurrenceCountsReply["quarters"][number];
const opened = eachTest(() => openApi());
const { call } = opened;
async function outcomes(query = ""): Promise<ScheduleOutcomeListReply> {
  const { status, body } = await opened.call("GET", `/schedule-outcomes${query}`);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as unknown as ScheduleOutcomeListReply;
}

async function scheduleNamed(id: string): Promise<void> {
  const { status } = await call("POST", "/schedules", { id, kind: "ping", cron: "0 3 * * *", timezone: "Asia/Seoul" });
  expect(status).toBe(201);
}

test("a schedule whose jobs fire and fail is failing, since the first failure after the last success", async () => {
  await past(opened.pool, "ping-often", ["SUCCESS", "FAILED", "FAILED", "QUEUED"]);
  const { schedules } = await outcomes();
  expect(schedules[0]).toMatchObject({
    id: "ping-often",
    failingSince: "2026-11-21T07:40:00.000Z",
    failingSinceIsMore: false,
    lastSuccessAt: "2026-11-21T07:30:02.000Z",
    onTimeShare: 0.75,
    latenessMs: 40,
    last: [
      { outcome: "FIRED", result: "open" },
      { outcome: "FIRED", result: "failed", error: "BROKEN" },
      { outcome: "FIRED", result: "failed" },
      { outcome: "FIRED", result: "succeeded", error: null },
    ],
  });
  expect(await outcomes("?state=failing")).toMatchObject({ total: 1, schedules: [{ id: "ping-often" }] });
});

test("the next time is the one that fires, not when the scheduler looks again", async () => {
  await scheduleNamed("nightly");
  const { schedules } = await outcomes("?text=NIGHT");
  expect(schedules.map(({ id, nextAt }) => [id, nextAt])).toEqual([["nightly", "2026-11-21T18:00:00.000Z"]]);
});

test("the run that a job started speaks for it: its starter succeeded, a task of it failed", async () => {
  const [starter] = await past(opened.pool, "ping-often", ["SUCCESS"]);
  await opened.pool.query(
    `insert into belfry.run (kind, key, version, state, sealed, starter_id, total, done, ok, failed, created_at, finished_at)
     values ('ping', 'k', 1, 'FAILED', true, $1, 3, 3, 2, 1, belfry.now(), belfry.now() + interval '5 seconds')`,
    [starter],
  );
  const { schedules, total } = await outcomes("?state=failing");
  expect({ total, ids: schedules.map(({ id }) => id) }).toEqual({ total: 1, ids: ["ping-often"] });
  const { body } = await opened.call("GET", "/schedules/ping-often/occurrences");
  expect(body).toMatchObject({
    occurrences: [
      {
        outcome: "FIRED",
        end: {
          state: "SUCCESS",
          run: { state: "FAILED" },
          result: "failed",
          tookMs: 5_000,
          error: { code: "RUN_FAILED", message: "1 of its jobs failed" },
        },
      },
    ],
  });
});

test("failures that reach back further than the page shows have their beginning; further than is looked, a bound", async () => {
  await past(opened.pool, "ping-often", ["SUCCESS", ...Array.from({ length: 32 }, () => "FAILED" as const)]);
  expect((await outcomes()).schedules[0]).toMatchObject({
    failingSince: "2026-11-21T02:50:00.000Z",
    failingSinceIsMore: false,
    lastSuccessAt: "2026-11-21T02:40:02.000Z",
  });
  await opened.pool.query("delete from belfry.occurrence where local_time = 't0'");
  expect((await outcomes()).schedules[0]).toMatchObject({ lastSuccessAt: null, failingSinceIsMore: false });
  await opened.advance(60_000);
  await past(opened.pool, "ping-often", ["SUCCESS"]);
  expect(await outcomes("?state=failing")).toMatchObject({ total: 0 });
});

test("filters and sorts are of the server, page after page", async () => {
  for (const id of ["a", "b", "c"]) await scheduleNamed(id);
  await past(opened.pool, "b", ["FAILED"]);
  await opened.call("POST", "/schedules/c/pause");
  const idsOf = async (query: string): Promise<readonly string[]> =>
    (await outcomes(query)).schedules.map(({ id }) => id);
  expect(await idsOf("?sort=failing")).toEqual(["b", "a", "c", "ping-often"]);
  expect(await idsOf("?state=paused")).toEqual(["c"]);
  expect(await idsOf("?zone=Asia/Seoul&limit=2")).toEqual(["a", "b"]);
  expect(await idsOf("?zone=Asia/Seoul&limit=2&cursor=2")).toEqual(["c"]);
  expect(await idsOf("?lateOver=1m")).toEqual(["b"]);
  expect(await idsOf("?app=none")).toEqual([]);
  expect((await opened.call("GET", "/schedule-outcomes?state=broken")).status).toBe(400);
});

test("what comes up is listed over all schedules, with what is paused and what has not ended", async () => {
  await scheduleNamed("nightly");
  await past(opened.pool, "ping-often", ["QUEUED"]);
  const at = async (query: string): Promise<readonly (readonly [string, string, boolean, boolean])[]> => {
    const { body } = await opened.call("GET", `/upcoming?${query}`);
    const { times } = body as unknown as UpcomingReply;
    return times.map(({ schedule, at: due, paused, mayOverlap }) => [schedule, due.slice(11, 16), paused, mayOverlap]);
  };
  const inAnHour = await at("hours=1");
  expect(inAnHour.map(([schedule, due]) => `${schedule} ${due}`)).toEqual(
    ["08:10", "08:20", "08:30", "08:40", "08:50", "09:00"].map((due) => `ping-often ${due}`),
  );
  await opened.call("POST", "/schedules/nightly/pause");
  expect((await at("hours=12")).find(([schedule]) => schedule === "nightly")).toEqual([
    "nightly",
    "18:00",
    true,
    false,
  ]);
  expect(await at("hours=12&lane=none")).toEqual([]);
  await opened.call("POST", "/schedules/ping-often/pause", { until: "25m" });
  expect((await at("hours=1")).map(([, due, paused]) => [due, paused])).toEqual([
    ["08:10", true],
    ["08:20", true],
    ["08:30", false],
    ["08:40", false],
    ["08:50", false],
    ["09:00", false],
  ]);
  const { lanes } = (await opened.call("GET", "/upcoming?hours=1")).body as unknown as UpcomingReply;
  expect(lanes).toMatchObject([{ lane: "default", times: 4, unknown: 4 }]);
  expect((await opened.call("GET", "/upcoming?hours=25")).status).toBe(400);
});

test("only the newest failures are looked at for schedules that fail, and the answer says when there are more", async () => {
  await past(opened.pool, "ping-often", ["FAILED"]);
  const fail = (jobs: number) => plantJobs(opened.pool, "FAILED", jobs);
  await fail(insightLimits.suspectsMax - 2);
  expect(await outcomes("?state=failing")).toMatchObject({ total: 1, isMore: false });
  await fail(1);
  expect(await outcomes("?state=failing")).toMatchObject({ total: 1, isMore: true });
  await fail(1);
  expect(await outcomes("?state=failing")).toMatchObject({ total: 0, isMore: true });
  expect(await outcomes()).toMatchObject({ isMore: false });
  const { body } = await opened.call("GET", "/summary?minutes=1");
  expect(body).toMatchObject({ schedules: { failing: { total: 0, isMore: true }, late: { total: 0, isMore: false } } });
});

test("those that fail can be listed by lateness, and only those that were later than asked", async () => {
  await past(opened.pool, "ping-often", ["FAILED"]);
  await opened.pool.query("update belfry.occurrence set lateness_ms = 500");
  expect(await outcomes("?state=failing&sort=lateness")).toMatchObject({ total: 1 });
  expect(await outcomes("?state=failing&lateOver=100ms")).toMatchObject({ total: 1 });
  expect(await outcomes("?state=failing&lateOver=1s")).toMatchObject({ total: 0 });
});

test("by lateness, of many schedules only those that were latest of late are judged, and the answer says so", async () => {
  await past(opened.pool, "ping-often", ["SUCCESS"]);
  await opened.pool.query("update belfry.occurrence set lateness_ms = 90000");
  await opened.pool.query(
    `insert into belfry.schedule (id, app, version, source, spec, enabled, decided_until, ledger_from, created_at, updated_at)
     select 'a-' || n, app, 1, 'api', spec || jsonb_build_object('id', 'a-' || n), true, belfry.now(), belfry.now(), belfry.now(), belfry.now()
     from belfry.schedule cross join generate_series(2, $1::int) n where id = 'ping-often'`,
    [insightLimits.latestJudgedMax],
  );
  const latest = async (query: string) => {
    const { schedules, total, isMore } = await outcomes(`?${query}&limit=1`);
    return { first: schedules[0]?.id, total, isMore };
  };
  const { latestJudgedMax: judged, latestLooksMax: looks } = insightLimits;
  const found = { first: "ping-often", total: 1 };
  expect(await latest("sort=lateness")).toEqual({ ...found, total: judged, isMore: false });
  await scheduleNamed("one-more");
  expect(await latest("sort=lateness")).toEqual({ ...found, total: judged + 1, isMore: true });
  expect(await latest("lateOver=1m")).toEqual({ ...found, isMore: true });
  await opened.pool.query(
    `insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, reason, schedule_version, planned_at, decided_at)
     select 'a-2', n::text, 0, 'UTC', belfry.now() - n * interval '1 minute', 'SKIPPED', 'paused', 1, belfry.now(), belfry.now() + interval '1 second'
     from generate_series(1, $1::int) n`,
    [looks],
  );
  expect(await latest("lateOver=1m")).toEqual({ first: undefined, total: 0, isMore: true });
  expect(await latest("lateOver=1m&id=ping-often")).toEqual({ ...found, isMore: false });
});

test("a schedule whose last time is written already comes up until that time, and one that has ended does not", async () => {
  const shown = async (): Promise<readonly string[]> => {
    const { body } = await opened.call("GET", "/upcoming?hours=1");
    return (body as unknown as UpcomingReply).times.map(({ schedule }) => schedule);
  };
  await opened.pool.query("update belfry.schedule set next_at = null");
  expect(await shown()).toEqual([]);
  await opened.pool.query(
    `insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, schedule_version, planned_at)
     select id, '17:10', 0, 'Asia/Seoul', belfry.now() + interval '10 minutes', 'PLANNED', version, belfry.now() from belfry.schedule`,
  );
  expect(new Set(await shown())).toEqual(new Set(["ping-often"]));
  await opened.pool.query(
    "update belfry.occurrence set outcome = 'SKIPPED', reason = 'paused', decided_at = belfry.now(), effective_at = nominal_at",
  );
  expect(await shown()).toEqual([]);
});

test("one schedule comes with its times when they are asked for, and many without", async () => {
  await past(opened.pool, "ping-often", ["SUCCESS", "FAILED"]);
  const { schedules } = await outcomes("?id=ping-often&include=times");
  const { body: listed } = await opened.call("GET", "/schedules/ping-often/occurrences");
  const { body: next } = await opened.call("GET", "/schedules/ping-often/next?count=5");
  const { occurrences } = listed as unknown as { occurrences: readonly object[] };
  expect(occurrences).toHaveLength(2);
  expect(schedules[0]?.times).toEqual({
    objective: null,
    occurrences,
    next: (next as unknown as { times: object }).times,
  });
  expect((await outcomes("?id=ping-often")).schedules[0]).not.toHaveProperty("times");
  for (const one of (await outcomes("?include=times")).schedules) expect(one).not.toHaveProperty("times");
});

test("times are counted by quarter of an hour, with what started nothing and what came late", async () => {
  const { call, pool } = await openApi();
  const ids = await past(pool, "ping-often", ["SUCCESS", "SKIPPED", "FAILED", "QUEUED"]);
  const counts = async (query = "") => {
    const { status, body } = await call("GET", `/schedules/ping-often/occurrences/counts${query}`);
    const { quarters, isMore } = body as unknown as OccurrenceCountsReply;
    const sum = (of: Exclude<keyof Quarter, "at">) => quarters.reduce((all, each) => all + (each[of] ?? 0), 0);
    const sums = (["succeeded", "nothing", "failed", "open", "unknown", "late"] as const).map(sum);
    return { status, isMore, sums, all: quarters.map(({ at }) => at), first: quarters[0] };
  };
  const seen = { status: 200, isMore: false, first: { late: 1, latestMs: 90_000 }, sums: [1, 1, 1, 1, 0, 1] };
  expect(await counts("?days=1")).toMatchObject(seen);
  // Exactly a minute is not late, nor is what a person ran by a backfill; a day ago is the first moment of a day.
  await pool.query(`update belfry.occurrence set nominal_at = belfry.now() - interval '1 day' where local_time = 't0'`);
  await pool.query("update belfry.job set slot_keys = '{backfill:ping-often}' where state = 'SUCCESS'");
  await pool.query("update belfry.occurrence set lateness_ms = 60000 where local_time = 't2'");
  await pool.query(
    "update belfry.occurrence set outcome = 'PLANNED', job_id = null, decided_at = null where local_time = 't3'",
  );
  expect(await counts("?days=1")).toMatchObject({ sums: [1, 1, 1, 1, 0, 0], first: { late: 0, latestMs: null } });
  await pool.query(
    `insert into belfry.run (kind, key, version, state, sealed, starter_id, created_at, finished_at)
     values ('ping', 'k', 1, 'DONE', true, $1, belfry.now(), belfry.now())`,
    [ids[1]],
  );
  await pool.query("delete from belfry.job where state in ('SUCCESS', 'FAILED')");
  expect(await counts()).toMatchObject({ sums: [1, 1, 0, 1, 1, 1] });
  await pool.query(
    `insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, reason, schedule_version, planned_at, decided_at)
     select 'ping-often', 'old' || n, 0, 'UTC', belfry.now() - interval '1 day' - n * interval '1 minute', 'SKIPPED', 'paused', 1,
       belfry.now(), belfry.now() from generate_series(1, $1::int) n`,
    [insightLimits.occurrencesCountedMax],
  );
  const { isMore, sums, all } = await counts("?days=60");
  expect({ isMore, sums, newest: all.at(-1) }).toEqual({
    isMore: true,
    sums: [1, insightLimits.occurrencesCountedMax - 3, 0, 1, 1, 1],
    newest: "2026-11-21T08:00:00.000Z",
  });
  expect((await call("GET", "/schedules/none/occurrences/counts")).status).toBe(404);
  expect((await call("GET", "/schedules/ping-often/occurrences/counts?days=61")).body).toMatchObject({
    errors: [{ path: "?days" }],
  });
});
