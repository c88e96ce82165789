import { createTestSystem } from "belfry/testing";
import { expect, inject, test } from "vitest";
import { defineApp, defineCalendar, defineJob, defineSchedule } from "../../src/compose/index.ts";
import { dayMs } from "../../src/machine/units.ts";
import { midnight, minute, stage, work } from "./stage.ts";

/** Sunday to Wednesday after the Saturday at which the stage begins. */
const holidays = defineCalendar({ id: "holidays", dates: ["2026-11-23..2026-11-24 Founders"] });
const daily = (over: object = {}) =>
  defineSchedule({ id: "daily", cron: "0 9 * * *", timezone: "UTC", run: work, except: holidays, ...over });
const monday = midnight + 2 * dayMs;

test("the ledger names the calendar, and `explain` says what it did to a time, before and after it", async () => {
  const skips = await stage([daily()]);
  const coming = await skips.why("daily", "2026-11-23T09:00");
  expect(coming.sentence).toBe(
    "2026-11-23 09:00 has not come yet: it will be SKIPPED, because the calendar holidays: 2026-11-23..2026-11-24 Founders excludes its day",
  );
  await skips.liveUntil(monday + 10 * 60 * minute);
  expect(await skips.why("daily", "2026-11-23T09:00")).toMatchObject({
    verdict: "skipped-excluded",
    sentence: "2026-11-23 09:00 was skipped: the calendar holidays: 2026-11-23..2026-11-24 Founders excludes its day",
    occurrence: { outcome: "SKIPPED", reason: "excluded", calendar: "holidays: 2026-11-23..2026-11-24 Founders" },
  });
  expect((await skips.why("daily", "2026-11-22T09:00")).verdict).toBe("ran");
});

test("a moved time keeps its reading in the ledger and runs on the other day", async () => {
  const moves = await stage([daily({ cron: "0 9 * * MON,TUE,THU", onExcluded: "next" })]);
  expect((await moves.why("daily", "2026-11-23T09:00")).sentence).toBe(
    "2026-11-23 09:00 has not come yet: the calendar holidays: 2026-11-23..2026-11-24 Founders moves 2026-11-23 09:00 to 2026-11-25 09:00, and it is planned shortly before its time",
  );
  await moves.liveUntil(monday + 2 * dayMs + 10 * 60 * minute);
  expect(await moves.why("daily", "2026-11-23T09:00")).toMatchObject({
    verdict: "ran",
    occurrence: { nominalAt: monday + 2 * dayMs + 9 * 60 * minute, outcome: "FIRED" },
    sentence:
      "2026-11-23 09:00 (moved to 2026-11-25 09:00 by the calendar holidays: 2026-11-23..2026-11-24 Founders) ran on time: job 1 succeeded",
  });
  expect((await moves.why("daily", "2026-11-24T09:00")).sentence).toBe(
    "2026-11-24 09:00 (moved to 2026-11-25 09:00 by the calendar holidays: 2026-11-23..2026-11-24 Founders) was merged into 2026-11-23 09:00: a calendar put both at one instant; that one is FIRED (job 1)",
  );
});

/** What the real tables keep: reading, when it fires, what became of it, the calendar. */
test("moved and merged times are rows of the real ledger", async () => {
  const job = defineJob({ id: "pay", run: () => {} });
  const payday = defineSchedule({
    id: "payday",
    cron: "0 9 * * MON-FRI",
    timezone: "Asia/Seoul",
    run: job,
    except: defineCalendar({ id: "kr", dates: ["2031-01-01 New Year", "2031-01-03"] }),
    onExcluded: "next",
  });
  await using system = await createTestSystem({
    apps: [defineApp({ name: "shop", schedules: [payday] })],
    at: "2030-12-31T12:00:00Z",
    databaseUrl: inject("postgresUrl"),
  });
  await system.advance({ to: "2031-01-04T12:00:00Z" });
  const rows = (await system.occurrences(payday)).map(({ nominalAt, ...row }) => {
    const at = new Date(nominalAt).toISOString().slice(0, 16);
    return [row.localTime, at, row.outcome, row.reason, row.calendar];
  });
  expect(rows).toEqual([
    ["2031-01-03T09:00", "2031-01-04T00:00", "FIRED", null, "kr: 2031-01-03"],
    ["2031-01-02T09:00", "2031-01-02T00:00", "FIRED", null, null],
    ["2031-01-01T09:00", "2031-01-02T00:00", "COALESCED", "into 2031-01-02T09:00", "kr: 2031-01-01 New Year"],
  ]);
});

test("a change of a calendar is a new version, of the times after it, also to a backfill; the same days written otherwise are none", async () => {
  const at = await stage([daily()]);
  const versions = async () => (await at.store.scheduleFacts("daily"))?.versions.length;
  const one = defineCalendar({
    id: "holidays",
    dates: ["2026-11-23..2026-11-24 Founders", "2026-11-23..2026-11-24 Founders"],
  });
  await at.store.installSchedules([daily({ except: [one] }).spec("test", "test")]);
  expect(await versions()).toBe(1);
  await at.liveUntil(monday + 10 * 60 * minute);
  const shorter = defineCalendar({ id: "holidays", dates: ["2026-11-23"] });
  await at.store.installSchedules([daily({ except: shorter }).spec("test", "test")]);
  expect(await versions()).toBe(2);
  await at.liveUntil(monday + dayMs + 10 * 60 * minute);
  const verdicts = ["23", "24"].map(async (day) => (await at.why("daily", `2026-11-${day}T09:00`)).verdict);
  expect(await Promise.all(verdicts)).toEqual(["skipped-excluded", "ran"]);
  await at.store.installSchedules([daily({ except: [] }).spec("test", "test")]);
  const { times } = await at.backfill("daily", { from: monday, to: at.now() });
  expect(times.map(({ localTime, was }) => [localTime, was])).toEqual([["2026-11-24T09:00", "FIRED"]]);
});
