import type { Pool } from "pg";
import { expect, test } from "vitest";
import type { ScheduleOutcomeListReply } from "../../src/api/shape/schedule-outcome.ts";
import type { UpcomingReply } from "../../src/api/shape/upcoming.ts";
import { openApi } from "../api/harness.ts";

type Opened = Awaited<ReturnType<typeof openApi>>;
type End = "SUCCESS" | "FAILED" | "QUEUED";

/** Occurrences of a schedule, the oldest first, ten minutes apart up to now, each with a job that stands as given. */
async function past(pool: Pool, schedule: string, ends: readonly End[]): Promise<readonly string[]> {
  const client = await pool.connect();
  // The rows are planted as no statement would write them.
  await client.query("set session_replication_role = replica");
  const ids: string[] = [];
  for (const [index, state] of ends.entries()) {
    const ago = `belfry.now() - ${(ends.length - 1 - index) * 10} * interval '1 minute'`;
    const isFinal = state !== "QUEUED";
    const isBad = state === "FAILED";
    const { rows } = await client.query<{ id: string }>(
      `insert into belfry.job (kind, payload, payload_hash, lane, state, event_id, due_at, generation, attempt, failures, max_attempts,
         lease_ms, retention_ms, trace, worker, started_at, finished_at, created_at, schedule_id, scheduled_for, dispatched_at,
         error_code, error_message)
       values ('ping', '{}', '\\x00', 'default', $2::belfry.job_state, 1, ${ago}, 1, 1, 0, 4, 20000, 2592000000, 't', 'w', ${ago},
         case when $4::boolean then ${ago} + interval '2 seconds' end, ${ago}, $1, ${ago}, ${ago}, $3, $5) returning id`,
      [schedule, state, isBad ? "BROKEN" : null, isFinal, isBad ? "no disk" : null],
    );
    const id = rows[0]?.id ?? "";
    ids.push(id);
    await client.query(
      `insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, schedule_version, job_id,
         planned_at, decided_at, lateness_ms)
       values ($1, $2, 0, 'UTC', ${ago}, 'FIRED', 1, $3, ${ago}, ${ago}, $4)`,
      [schedule, `t${index}`, id, index === 0 ? 90_000 : 40],
    );
  }
  await client.query("reset session_replication_role");
  client.release();
  return ids;
}

async function outcomes(opened: Opened, query = ""): Promise<ScheduleOutcomeListReply> {
  const { status, body } = await opened.call("GET", `/schedule-outcomes${query}`);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as unknown as ScheduleOutcomeListReply;
}

async function scheduleNamed({ call }: Opened, id: string): Promise<void> {
  const { status } = await call("POST", "/schedules", { id, kind: "ping", cron: "0 3 * * *", timezone: "Asia/Seoul" });
  expect(status).toBe(201);
}

test("a schedule whose jobs fire and fail is failing, since the first failure after the last success", async () => {
  const opened = await openApi();
  await past(opened.pool, "ping-often", ["SUCCESS", "FAILED", "FAILED", "QUEUED"]);
  const { schedules } = await outcomes(opened);
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
});

test("the next time is the one that fires, not when the scheduler looks again", async () => {
  const opened = await openApi();
  await scheduleNamed(opened, "nightly");
  const { schedules } = await outcomes(opened, "?text=NIGHT");
  expect(schedules.map(({ id, firesAt }) => [id, firesAt])).toEqual([["nightly", "2026-11-21T18:00:00.000Z"]]);
});

test("the run that a job started speaks for it: its starter succeeded, a task of it failed", async () => {
  const opened = await openApi();
  const [starter] = await past(opened.pool, "ping-often", ["SUCCESS"]);
  await opened.pool.query(
    `insert into belfry.run (kind, key, version, state, sealed, starter_id, total, done, ok, failed, created_at, finished_at)
     values ('ping', 'k', 1, 'FAILED', true, $1, 3, 3, 2, 1, belfry.now(), belfry.now() + interval '5 seconds')`,
    [starter],
  );
  const { schedules, total } = await outcomes(opened, "?state=failing");
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
  const opened = await openApi();
  await past(opened.pool, "ping-often", ["SUCCESS", ...Array.from({ length: 32 }, () => "FAILED" as const)]);
  expect((await outcomes(opened)).schedules[0]).toMatchObject({
    failingSince: "2026-11-21T02:50:00.000Z",
    failingSinceIsMore: false,
    lastSuccessAt: "2026-11-21T02:40:02.000Z",
  });
  await opened.pool.query("delete from belfry.occurrence where local_time = 't0'");
  expect((await outcomes(opened)).schedules[0]).toMatchObject({ lastSuccessAt: null, failingSinceIsMore: false });
});

test("filters and sorts are of the server, page after page", async () => {
  const opened = await openApi();
  for (const id of ["a", "b", "c"]) await scheduleNamed(opened, id);
  await past(opened.pool, "b", ["FAILED"]);
  await opened.call("POST", "/schedules/c/pause");
  const idsOf = async (query: string): Promise<readonly string[]> =>
    (await outcomes(opened, query)).schedules.map(({ id }) => id);
  expect(await idsOf("?sort=failing")).toEqual(["b", "a", "c", "ping-often"]);
  expect(await idsOf("?state=paused")).toEqual(["c"]);
  expect(await idsOf("?zone=Asia/Seoul&limit=2")).toEqual(["a", "b"]);
  expect(await idsOf("?zone=Asia/Seoul&limit=2&cursor=2")).toEqual(["c"]);
  expect(await idsOf("?lateOver=1m")).toEqual(["b"]);
  expect(await idsOf("?app=none")).toEqual([]);
  expect((await opened.call("GET", "/schedule-outcomes?state=broken")).status).toBe(400);
});

test("what comes up is listed over all schedules, with what is paused and what has not ended", async () => {
  const opened = await openApi();
  await scheduleNamed(opened, "nightly");
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
  expect((await opened.call("GET", "/upcoming?hours=25")).status).toBe(400);
});
