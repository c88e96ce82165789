import { defineApp, defineCalendar, defineFanOut, defineJob, defineSchedule, sql } from "belfry";
import { createTestSystem } from "belfry/testing";
import * as fc from "fast-check";
import { expect, inject, test } from "vitest";
import { registry } from "../../src/define/definition.ts";
import { specsOf } from "../../src/schedule/install-schedules.ts";
import { type DueWork, type PileUp, peaksOf, pileUpsOf } from "../../src/schedule/pile-ups.ts";
import { simulate } from "../../src/schedule/simulate.ts";
import { ledgerRows, simulatedRows } from "./simulated-ledger.ts";
import { aSpec, hour } from "./spec.ts";

const work = defineJob({ id: "work", run: () => {} });
const ahead = defineFanOut({
  id: "ahead",
  from: () => sql<{ id: number }>`select 1 as id`,
  key: ({ id }, { day }) => `${day}:${id}`,
  each: work,
  payload: () => undefined,
  materializeBefore: "20m",
});
const newYork = { timezone: "America/New_York", run: work } as const;
const holidays = defineCalendar({ id: "holidays", dates: ["2031-03-10 Founding day"] });
const schedules = [
  defineSchedule({ id: "nightly", cron: "30 2 * * *", spread: "6h", ...newYork }),
  defineSchedule({ id: "skips", cron: "15 2 * * *", dst: { gap: "skip" }, ...newYork }),
  defineSchedule({ id: "moves", cron: "0 9 * * *", except: holidays, onExcluded: "next", ...newYork }),
  defineSchedule({ id: "excluded", cron: "0 10 * * *", except: holidays, spread: "1h", ...newYork }),
  defineSchedule({ id: "often", every: "5h", spread: "5h", run: work }),
  defineSchedule({ id: "follows", after: { schedule: "excluded", within: "2h" }, run: work }),
  defineSchedule({ id: "fan-out", cron: "0 8 * * *", timezone: "Asia/Seoul", spread: "10m", run: ahead }),
  defineSchedule({ id: "once", at: "2031-03-09T12:00:00Z", run: work }),
  defineSchedule({ id: "off", every: "1m", enabled: false, run: work }),
];
const app = defineApp({ name: "shop", jobs: [work, ahead], schedules });

test("three days that were simulated are the ledger of these days, row by row", async () => {
  const span = { from: Date.parse("2031-03-08T12:00:00Z"), to: Date.parse("2031-03-11T13:30:00Z") };
  const at = new Date(span.from).toISOString();
  await using system = await createTestSystem({ apps: [app], at, databaseUrl: inject("postgresUrl") });
  await system.advance({ to: new Date(span.to + hour).toISOString() });
  const ledger = (await ledgerRows(system.database, span)).map(({ line }) => line);
  expect(simulatedRows(specsOf(registry([app]), "test"), span).map(({ line }) => line)).toEqual(ledger);
  for (const part of ["SKIPPED dst-gap", "SKIPPED excluded holidays", "follows ", "COALESCED into"])
    expect(ledger.some((line) => line.includes(part))).toBe(true);
});

test("more times than may be looked at are refused, and no more than these are made", () => {
  const options = { from: 0, to: 24 * hour, timesMax: 1_440, runMs: () => 0 };
  expect(simulate([aSpec()], options)).toHaveLength(1_440);
  expect(() => simulate([aSpec(), aSpec({ id: "t", expression: { form: "at", at: hour } })], options)).toThrow(
    "the schedules have more than 1440 times in this span: take fewer days, or fewer schedules",
  );
});

/** Second by second: what ended leaves, what is due comes, and what came first starts while there is a place. */
function pileUpsByHand(all: readonly DueWork[], capacity: number) {
  const wanted: number[] = [];
  const found: PileUp[] = [];
  let running: number[] = [];
  const queue: DueWork[] = [];
  let isOpen = false;
  for (let now = 0; now < 400; now += 1) {
    running = running.filter((end) => end > now);
    queue.push(...all.filter(({ dueAt }) => dueAt === now));
    const last = found.at(-1);
    while (queue.length > 0 && running.length < capacity) {
      const next = queue.shift();
      if (next === undefined) break;
      running.push(now + next.runMs);
      if (last === undefined || now === next.dueAt) continue;
      const longestWaitMs = Math.max(found.at(-1)?.longestWaitMs ?? 0, now - next.dueAt);
      found[found.length - 1] = { ...(found.at(-1) ?? last), drainsAt: now, longestWaitMs };
    }
    if (queue.length > 0 && !isOpen) found.push({ from: now, drainsAt: now, over: 0, overAt: now, longestWaitMs: 0 });
    isOpen = queue.length > 0;
    wanted.push(running.length + queue.length);
    const open = found.at(-1);
    if (open !== undefined && queue.length > open.over)
      found[found.length - 1] = { ...open, over: queue.length, overAt: now };
  }
  return { found, peaks: Array.from({ length: 40 }, (_, n) => Math.max(...wanted.slice(10 * n, 10 * n + 10))) };
}

test("pile-ups and peaks are those that a count second by second finds", () => {
  const due = fc.record({ dueAt: fc.integer({ min: 0, max: 40 }), runMs: fc.integer({ min: 1, max: 9 }) });
  let piled = 0;
  fc.assert(
    fc.property(fc.array(due, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), (all, capacity) => {
      const inOrder = all.toSorted((a, b) => a.dueAt - b.dueAt);
      const found = pileUpsOf(inOrder, capacity);
      const peaks = peaksOf(inOrder, capacity, { from: 0, to: 400, parts: 40 });
      expect({ found, peaks }).toEqual(pileUpsByHand(inOrder, capacity));
      piled += found.length;
    }),
    { numRuns: 500 },
  );
  expect(piled).toBeGreaterThan(100);
});
