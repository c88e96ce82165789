import { expect, test } from "vitest";
import { openApi } from "../api/harness.ts";
import { eachTest } from "../support/each-test.ts";

const made = { id: "nightly", kind: "ping", cron: "30 2 * * *", timezone: "America/New_York" };
const opened = eachTest(() => openApi());

/** The answer with whatever members it has. */
async function call(method: string, path: string, body?: unknown) {
  const answer = await opened.call(method, path, body);
  return { status: answer.status, body: answer.body as unknown as Record<string, unknown> };
}

test("a schedule is made, shown with its versions, changed and deleted", async () => {
  expect(await call("POST", "/schedules", made)).toMatchObject({
    status: 201,
    body: { id: "nightly", source: "api", version: 1, expression: "30 2 * * *", timezone: "America/New_York" },
  });
  const taken = { status: 409, body: { code: "schedule-exists" } };
  expect(await call("POST", "/schedules", made)).toMatchObject(taken);
  const { id: _id, ...changed } = { ...made, cron: "0 3 * * *", startDeadline: "10m" };
  expect(await call("PUT", "/schedules/none", changed)).toMatchObject({ status: 404 });
  expect((await call("PUT", "/schedules/nightly", changed)).body).toMatchObject({ version: 2 });
  expect((await call("GET", "/schedules/nightly")).body).toMatchObject({
    deleted: false,
    versions: [{ version: 1 }, { version: 2, spec: { expression: { cron: "0 3 * * *" }, startDeadlineMs: 600_000 } }],
  });
  expect(await call("DELETE", "/schedules/nightly", {})).toMatchObject({ status: 200, body: { waiting: 0 } });
  expect((await call("GET", "/schedules/nightly")).body).toMatchObject({ deleted: true });
});

test("code wins for its own ids; they are paused and resumed all the same", async () => {
  const mine = { kind: "ping", every: "1m" };
  for (const [method, path, body] of [
    ["POST", "/schedules", { ...mine, id: "ping-often" }],
    ["PUT", "/schedules/ping-often", mine],
    ["DELETE", "/schedules/ping-often", {}],
  ] as const) {
    expect(await call(method, path, body)).toMatchObject({ status: 409, body: { code: "schedule-in-code" } });
  }
  expect((await call("POST", "/schedules/ping-often/pause", {})).body).toMatchObject({ paused: true });
  expect((await call("POST", "/schedules/ping-often/resume", {})).body).toMatchObject({ paused: false });
});

test("what is wrong is answered with every field", async () => {
  const wrong = { ...made, cron: "61 * * * *", timezone: "Mars", startDeadline: "soon" };
  const { status, body } = await call("POST", "/schedules", wrong);
  expect([status, body["code"]]).toEqual([422, "invalid-schedule"]);
  expect((body["errors"] as { path: string }[]).map((each) => each.path)).toEqual([
    "cron",
    "timezone",
    "startDeadline",
  ]);
  expect(await call("POST", "/schedules", { ...made, cronn: "x" })).toMatchObject({ status: 400 });
  expect(await call("POST", "/schedules", { ...made, kind: "pong" })).toMatchObject({ status: 422 });
  expect(await call("POST", "/schedules/none/pause", {})).toMatchObject({ status: 404 });
  expect(await call("GET", "/schedules/none/explain?time=09:00")).toMatchObject({ status: 404 });
  expect(await call("GET", "/schedules/ping-often/explain?time=7:50")).toMatchObject({ status: 200 });
  expect(await call("GET", "/schedules/ping-often/explain?time=soon")).toMatchObject({
    status: 422,
    body: { code: "invalid-time" },
  });
});

test("the next times tell what clock changes do to them", async () => {
  await call("POST", "/schedules", made);
  const { body } = await call("GET", "/schedules/nightly/next?count=2&after=2027-03-13T12:00:00Z");
  expect(body["times"]).toEqual([
    {
      localTime: "2027-03-14T02:30",
      fold: 0,
      fires: true,
      note: "the clock skips 02:30 (it jumps from 02:00 to 03:00): fires at 03:00",
      exclusion: null,
      change: { what: "moved", clock: "02:30", from: "02:00", into: "03:00", to: "03:00" },
      at: "2027-03-14T07:00:00.000Z",
      effectiveAt: null,
    },
    {
      localTime: "2027-03-15T02:30",
      fold: 0,
      fires: true,
      note: null,
      change: null,
      exclusion: null,
      at: "2027-03-15T06:30:00.000Z",
      effectiveAt: null,
    },
  ]);
});

test("calendars are given, kept by a change of something else, and shown in the next times", async () => {
  const today = new Date(await opened.store.now());
  const day = (n: number): string => new Date(today.getTime() + n * 86_400_000).toISOString().slice(0, 10);
  const given = {
    ...made,
    timezone: "UTC",
    cron: "30 2 * * *",
    only: { id: "open", dates: [`${day(-9)}..${day(90)}`] },
  };
  const moving = { except: [{ id: "closed", dates: [`${day(1)}..${day(2)} Holiday`] }], onExcluded: "next" };
  await call("POST", "/schedules", { ...given, ...moving });
  const cron = { cron: "45 2 * * *" };
  expect((await call("PATCH", "/schedules/nightly", cron)).body).toMatchObject({ version: 2 });
  const { body } = await call("GET", `/schedules/nightly/next?count=3&after=${day(1)}T00:00:00Z`);
  const calendar = `closed: ${day(1)}..${day(2)} Holiday`;
  expect(body["times"]).toMatchObject([
    { localTime: `${day(3)}T02:45`, fires: true, exclusion: null },
    { localTime: `${day(1)}T02:45`, fires: false, exclusion: { calendar, movedTo: `${day(3)}T02:45` } },
    { note: `${calendar}: moved to ${day(3)} 02:45, COALESCED into ${day(3)}T02:45` },
  ]);
  const unset = { unset: ["except", "onExcluded"] };
  expect((await call("PATCH", "/schedules/nightly", unset)).body).toMatchObject({ version: 3 });
  const later = await call("GET", `/schedules/nightly/next?count=1&after=${day(1)}T00:00:00Z`);
  expect(later.body["times"]).toMatchObject([{ localTime: `${day(1)}T02:45`, fires: true, exclusion: null }]);
  for (const [both, status] of [
    [{ spread: "5m", unset: ["spread"] }, 422],
    [{ unset: ["cron"] }, 400],
  ] as const) {
    expect(await call("PATCH", "/schedules/nightly", both)).toMatchObject({ status });
  }
});

test("an expression is previewed before it is a schedule, in all its forms", async () => {
  const times = async (query: string) => (await call("GET", `/preview?${query}&count=2`)).body;
  const twice = await times("expression=30 1 * * *&timezone=America/New_York&overlap=both&after=2026-10-31T12:00:00Z");
  expect((twice["times"] as { note: string }[]).map((each) => each.note)).toEqual([
    "the clock shows 01:30 twice: first time",
    "the clock shows 01:30 twice: second time",
  ]);
  const dropped = await times("expression=30 2 * * *&timezone=America/New_York&gap=skip&after=2027-03-13T12:00:00Z");
  expect((dropped["times"] as { fires: boolean }[]).map((each) => each.fires)).toEqual([false, true]);
  const hourly = await times("expression=0 * * * *&timezone=America/New_York&after=2027-03-14T06:00:00Z");
  expect((hourly["times"] as { note: string }[])[0]?.note).toBe("the clock jumps from 02:00 to 03:00 before it");
  for (const expression of ["cron(0 8 ? * MON-FRI *)", "rate(5 minutes)", "5m"]) {
    expect((await times(`expression=${encodeURIComponent(expression)}`))["times"]).toHaveLength(2);
  }
  expect(await call("GET", "/preview?expression=61 * * * *")).toMatchObject({ status: 422 });
  expect(await call("GET", "/preview?expression=* * * * *&timezone=Mars")).toMatchObject({ status: 422 });
});

test("a trigger makes a job; a backfill plans what was missed; explain answers for a time", async () => {
  const { advance } = opened;
  expect(await call("POST", "/schedules/ping-often/trigger", { key: "k" })).toMatchObject({ status: 201 });
  expect(await call("POST", "/schedules/ping-often/trigger", { key: "k" })).toMatchObject({ status: 200 });
  await advance(3_600_000);
  const store = opened.store;
  const [row] = await store.schedules();
  const decidedUntil = await store.now();
  await store.plan([
    { scheduleId: "ping-often", version: row?.version ?? 1, decidedUntil, nextAt: null, occurrences: [] },
  ]);
  const window = { from: "2026-11-21T08:05:00Z", to: "2026-11-21T08:35:00Z", pace: "2s" };
  const dry = await call("POST", "/schedules/ping-often/backfill", { ...window, dryRun: true });
  expect(dry.body).toMatchObject({ dryRun: true, times: [{ was: "missing", runs: true }, {}, {}] });
  const begun = await call("POST", "/schedules/ping-often/backfill", window);
  expect(begun).toMatchObject({ status: 202, body: { action: "backfill", matched: { count: 3 }, paceMs: 2_000 } });
  const progress = async () => (await call("GET", `/bulk/${String(begun.body["id"])}`)).body;
  await expect.poll(progress).toMatchObject({ state: "DONE", changed: 3, refused: 0, caller: "ada" });
  const again = await call("POST", "/schedules/ping-often/backfill", window);
  expect(again).toMatchObject({ status: 202, body: { matched: { count: 0 } } });
  const { body } = await call("GET", "/schedules/ping-often/explain?time=08:10");
  expect(body["answers"]).toMatchObject([
    { verdict: "planned", job: { kind: "ping" }, occurrence: { outcome: "PLANNED" } },
  ]);
});

test("the history comes in pages, and a cursor of one's own making is refused", async () => {
  const { store } = opened;
  const now = await store.now();
  const skipped = { outcome: "SKIPPED", reason: "misfire", isCatchUp: false, missedCount: 0, job: null } as const;
  const occurrences = [1, 2, 3].map((n) => {
    const nominalAt = now + n * 600_000;
    const localTime = new Date(nominalAt).toISOString().slice(0, 19);
    return { ...skipped, localTime, fold: 0 as const, timezone: "UTC", nominalAt };
  });
  const plan = { scheduleId: "ping-often", version: 1, decidedUntil: now + 3_600_000, nextAt: null, occurrences };
  await store.plan([plan]);
  const page = async (query: string) => (await call("GET", `/schedules/ping-often/occurrences?limit=2${query}`)).body;
  const first = await page("");
  expect(first["occurrences"]).toHaveLength(2);
  const second = await page(`&cursor=${encodeURIComponent(String(first["nextCursor"]))}`);
  expect(second).toMatchObject({ occurrences: [{ nominalAt: "2026-11-21T08:10:00.000Z" }], nextCursor: null });
  const refused = await call("GET", "/schedules/ping-often/occurrences?cursor=2026");
  expect(refused).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining("nextCursor of the page before") },
  });
});

test("the history of a deleted schedule is still there; one that never was is answered in another way", async () => {
  await call("POST", "/schedules", { ...made, cron: "* * * * *" });
  await call("DELETE", "/schedules/nightly", {});
  const history = await call("GET", "/schedules/nightly/occurrences");
  expect(history).toMatchObject({ status: 200, body: { occurrences: [], nextCursor: null } });
  expect(await call("GET", "/schedules/ping-oftn/occurrences")).toMatchObject({
    status: 404,
    body: {
      code: "unknown-schedule",
      near: ["ping-often"],
      detail: expect.stringContaining("did you mean ping-often?"),
    },
  });
});

test("a setting that its expression has no use for is refused, not dropped", async () => {
  const often = { id: "often", kind: "ping", every: "5m" };
  const wrong = { ...often, timezone: "Asia/Seoul", dst: { gap: "skip" } };
  const { status, body } = await call("POST", "/schedules", wrong);
  expect([status, body["code"]]).toEqual([422, "invalid-schedule"]);
  expect((body["errors"] as { path: string }[]).map((each) => each.path)).toEqual(["timezone", "dst"]);
  expect(await call("POST", "/schedules", { ...often, timezone: "UTC" })).toMatchObject({ status: 201 });
});

test("an expression whose next time no calendar reaches is refused by preview as by a schedule", async () => {
  for (const expression of ["90000000d", "rate(999999999 days)", "500ms"])
    expect(await call("GET", `/preview?expression=${encodeURIComponent(expression)}`)).toMatchObject({
      status: 422,
      body: { code: "invalid-expression", detail: expect.stringMatching(/must be at (?:least|most)/) },
    });
});

test("the next time is the next one that fires, also when the scheduler has planned it already", async () => {
  const now = await opened.store.now();
  const plan = { scheduleId: "ping-often", version: 1, decidedUntil: now + 3_000_000, nextAt: now + 3_600_000 };
  await opened.store.plan([{ ...plan, occurrences: [] }]);
  const times = { nextAt: "2026-11-21T08:10:00.000Z", looksAt: "2026-11-21T09:00:00.000Z" };
  expect((await call("GET", "/schedules")).body).toMatchObject({ schedules: [times] });
  expect((await call("GET", "/schedules/ping-often")).body).toMatchObject(times);
  const created = await call("POST", "/schedules", made);
  expect(created.body).toMatchObject({ nextAt: "2026-11-22T07:30:00.000Z" });
  const off = { id: "off", kind: "ping", every: "1h", enabled: false };
  expect((await call("POST", "/schedules", off)).body).toMatchObject({ nextAt: null, enabled: false });
});

test("the list says where it goes on", async () => {
  await call("POST", "/schedules", made);
  const first = (await call("GET", "/schedules?limit=1")).body;
  expect(first).toMatchObject({ schedules: [{ id: "nightly" }], nextCursor: "nightly" });
  expect((await call("GET", "/schedules?limit=1&cursor=nightly")).body).toMatchObject({
    schedules: [{ id: "ping-often" }],
    nextCursor: null,
  });
  expect(await call("GET", "/schedules?limit=10001")).toMatchObject({ status: 400 });
});
