import { defineApp, defineFanOut, defineJob, defineSchedule } from "belfry";
import { createTestSystem, timesOf } from "belfry/testing";
import * as fc from "fast-check";
import { expect, inject, test } from "vitest";
import { parseCron, wallTimes } from "../../src/calendar/cron.ts";
import { offsetMsOf, smallestGapMs } from "../../src/define/spread.ts";
import { hour, midnight } from "./spec.ts";

const databaseUrl = (): string => inject("postgresUrl");
const day = 24 * hour;

test("an offset is the same in each process, and schedules lie evenly over their spread", () => {
  expect(offsetMsOf("shop", "nightly", 30 * 60_000)).toBe(1_058_000);
  const quarters = [0, 0, 0, 0];
  for (let n = 0; n < 4_000; n += 1) {
    const offset = offsetMsOf("shop", `nightly-${n}`, hour);
    expect(offset % 1_000).toBe(0);
    quarters[Math.floor((offset / hour) * 4)] = (quarters[Math.floor((offset / hour) * 4)] ?? 0) + 1;
  }
  for (const count of quarters) expect(Math.abs(count - 1_000)).toBeLessThan(120);
});

test("no two readings of an expression are closer than its smallest gap", () => {
  const list = fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(list, list, (minutes, hours) => {
      const text = `${minutes.join(",")} ${hours.join(",")} * * *`;
      const parsed = parseCron(text);
      if (!parsed.ok) throw new Error(parsed.problem);
      const readings = [...wallTimes(parsed.cron, midnight, midnight + 3 * day)];
      const gaps = readings.slice(1).map((reading, place) => reading - (readings[place] ?? 0));
      expect(smallestGapMs({ form: "cron", cron: text })).toBe(Math.min(...gaps));
    }),
  );
});

const bill = defineJob({ id: "bill", run: () => {} });
const remind = defineJob({ id: "remind", run: () => {} });
const ahead = defineFanOut({
  id: "remind-all",
  each: remind,
  materializeBefore: "10m",
  async *from() {
    yield* [1, 2];
  },
  payload: () => undefined,
  key: (row, { day: date }) => `${date}/${String(row)}`,
});
const nightly = defineSchedule({ id: "nightly", cron: "0 3 * * *", timezone: "Asia/Seoul", spread: "30m", run: bill });
const early = defineSchedule({ id: "early", cron: "0 4 * * *", timezone: "Asia/Seoul", spread: "30m", run: ahead });
const after = defineSchedule({ id: "after", after: { schedule: "nightly", within: "2h" }, run: remind });
const app = defineApp({ name: "shop", jobs: [bill, remind, ahead], schedules: [nightly, early, after] });

test("a spread time keeps its nominal time, starts at its own, and what follows it goes by the nominal one", async () => {
  await using system = await createTestSystem({ apps: [app], at: "2031-01-01T17:00:00Z", databaseUrl: databaseUrl() });
  const span = { after: "2031-01-01T17:00:00Z", until: "2031-01-01T20:00:00Z", app: "shop" };
  const [time] = timesOf(nightly, span);
  expect(time).toMatchObject({ at: "2031-01-01T18:00:00.000Z", effectiveAt: "2031-01-01T18:17:38.000Z" });
  expect(await system.advance({ to: "2031-01-01T18:17:37Z" })).toEqual([]);
  expect((await system.advance("1s")).map(({ kind }) => kind)).toEqual(["bill", "remind"]);
  const [row] = await system.occurrences(nightly);
  expect(row).toMatchObject({ outcome: "FIRED", localTime: "2031-01-02T03:00", latenessMs: 0 });
  expect([row?.nominalAt, row?.effectiveAt].map((at) => new Date(at ?? 0).toISOString())).toEqual([
    time?.at,
    time?.effectiveAt,
  ]);
  expect(await system.occurrences(after)).toMatchObject([{ outcome: "FIRED", nominalAt: row?.nominalAt }]);
  const [dueAt = 0] = timesOf(early, span).map(({ effectiveAt }) => Date.parse(effectiveAt ?? ""));
  const ran = await system.advance({ to: "2031-01-01T20:00:00Z" });
  expect(ran.map(({ kind }) => kind)).toEqual(["remind-all", "remind", "remind"]);
  const { rows } = await system.database.query(
    "select kind, belfry.ms(started_at) - $1 as late from belfry.job where id = any($2) order by id",
    [dueAt, ran.map(({ id }) => id)],
  );
  expect(rows.map(({ kind, late }) => [kind, Number(late)])).toEqual([
    ["remind-all", -600_000],
    ["remind", 0],
    ["remind", 0],
  ]);
});
