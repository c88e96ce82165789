import fc from "fast-check";
import { expect, test } from "vitest";
import { figuresIn } from "../../src/api/shape/kind-figures.ts";
import type { UpcomingReply } from "../../src/api/shape/upcoming.ts";
import type { Said } from "../../src/cells/fold.ts";
import { merges, wholeBulk } from "../../src/cells/merge.ts";
import { type Cursors, lists, page, readCursor, writeCursor } from "../../src/cells/pages.ts";

type Row = Readonly<Record<string, unknown>>;
const merged = (path: string, bodies: Readonly<Record<string, object>>): object | undefined =>
  merges[path]?.fold(Object.entries(bodies).map(([cell, value]) => ({ cell, value })));

const at = (ms: number): string => new Date(ms).toISOString();

/** What a cell answers for a page: its rows newest first, the cursor the last id. */
function cellPage(rows: readonly Row[], cursor: string | null | undefined, limit: number): Row {
  const from = typeof cursor === "string" ? rows.findIndex(({ id }) => id === cursor) + 1 : 0;
  const jobs = rows.slice(from, from + limit);
  return {
    jobs: [...jobs],
    nextCursor: from + limit < rows.length ? (jobs.at(-1)?.["id"] ?? null) : null,
    complete: true,
  };
}

test("pages of all cells have each row once, the newest first", () => {
  const times = fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 30 });
  fc.assert(
    fc.property(fc.array(times, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 7 }), (cells, limit) => {
      const rows = cells.map((own, cell) =>
        own.toSorted((a, b) => b - a).map((ms, index): Row => ({ id: `${cell}-${index}`, createdAt: at(ms) })),
      );
      const seen: Row[] = [];
      let before: Cursors = {};
      for (let round = 0; round < 200; round += 1) {
        const open = rows.flatMap((own, cell): Said<object>[] =>
          before[`c${cell}`] === null ? [] : [{ cell: `c${cell}`, value: cellPage(own, before[`c${cell}`], limit) }],
        );
        if (open.length === 0) break;
        const next = page(lists["/jobs"] as NonNullable<(typeof lists)[string]>, open, {
          query: new URLSearchParams(),
          limit,
          before,
        });
        expect(next.rows.length).toBeLessThanOrEqual(limit);
        seen.push(...next.rows);
        before = readCursor(writeCursor(next.cursors)) ?? {};
      }
      expect(seen.length).toBe(rows.flat().length);
      expect(new Set(seen.map(({ id }) => id))).toEqual(new Set(rows.flat().map(({ id }) => id)));
      const order = seen.map(({ createdAt }) => (typeof createdAt === "string" ? createdAt : ""));
      expect(order).toEqual(order.toSorted().toReversed());
    }),
  );
});

test("figures add up, means are weighted, the furthest pass stands", () => {
  const hour = (succeeded: number, meanRunMs: number | null) => ({ succeeded, failed: 0, retried: 0, meanRunMs });
  const body = (n: number, ageMs: number, meanRunMs: number | null): Row => ({
    live: { total: n, oldestWaitingMs: n * 10, isMore: n > 1, atLeast: ["PENDING"] },
    lastHour: hour(n, meanRunMs),
    lanes: { total: 3, paused: 0 },
    lastPass: { ageMs },
    lastFailures: [],
    minutes: [{ at: at(0), ...hour(n, meanRunMs) }],
  });
  expect(merged("/summary", { a: body(1, 5, 100), b: body(3, 900, 20) })).toMatchObject({
    live: { total: 4, oldestWaitingMs: 30, isMore: true, atLeast: ["PENDING"] },
    lastHour: { succeeded: 4, meanRunMs: 40 },
    lanes: { total: 3, paused: 0 },
    lastPass: { ageMs: 900 },
    minutes: [{ at: at(0), succeeded: 4, meanRunMs: 40 }],
  });
});

test("a group of failures of two cells is one", () => {
  const group = (jobs: number, first: number, last: number) => ({
    fingerprint: "f",
    jobs,
    firstAt: at(first),
    lastAt: at(last),
    newest: String(last),
  });
  const groups = {
    a: { groups: [group(2, 5, 10)], isMore: false },
    b: { groups: [group(3, 1, 7)], isMore: true },
  };
  expect(merged("/dead-letters", groups)).toEqual({ groups: [{ ...group(5, 1, 10) }], isMore: true });
});

test("a lane is paused until the last of its cells is: without an end in one of them, without an end", () => {
  const lane = (paused: boolean, pausedUntil: string | null) => ({ lanes: [{ name: "mail", paused, pausedUntil }] });
  const until = (...cells: ReturnType<typeof lane>[]) =>
    merged("/lanes", Object.fromEntries(cells.map((cell, n) => [`c${n}`, cell])));
  const shown = (pausedUntil: string | null, paused = true) => ({ lanes: [{ name: "mail", paused, pausedUntil }] });
  expect(until(lane(true, at(5)), lane(true, at(9)), lane(false, null))).toMatchObject(shown(at(9)));
  expect(until(lane(true, at(5)), lane(true, null))).toMatchObject(shown(null));
  expect(until(lane(false, null), lane(false, null))).toMatchObject(shown(null, false));
});

test("a bulk action of several cells goes on until its last part has ended, and stopped where one was", () => {
  const part = (state: string, finishedAt: string | null, canary: object | null = null) => ({
    value: { id: "1", state, finishedAt, changed: 2, canary },
  });
  const whole = (...parts: ReturnType<typeof part>[]) =>
    wholeBulk(parts.map((each, n) => ({ cell: `c${n}`, ...each })));
  const [first, last] = [at(5), at(9)];
  const running = { id: "1-1", state: "RUNNING", finishedAt: null, changed: 4 };
  expect(whole(part("DONE", first), part("RUNNING", null))).toMatchObject(running);
  expect(whole(part("RUNNING", null), part("STOPPED", first))).toMatchObject(running);
  expect(whole(part("DONE", last), part("STOPPED", first))).toMatchObject({ state: "STOPPED", finishedAt: last });
  expect(whole(part("DONE", first), part("DONE", last))).toMatchObject({ state: "DONE", finishedAt: last });
  const sent = (state: string) => part("RUNNING", null, { state, jobs: [state] });
  expect(whole(sent("passed"), sent("failed"), sent("out"))).toMatchObject({
    canary: { state: "failed", jobs: ["passed", "failed", "out"] },
  });
  expect(whole(sent("passed"), sent("out"))).toMatchObject({ canary: { state: "out" } });
});

test("what is no cursor of a front is not read", () => {
  for (const text of ["zz", writeCursor({}).slice(1), Buffer.from("[1]").toString("base64url"), "A".repeat(9_000)]) {
    expect(readCursor(text)).toBeNull();
  }
  expect(readCursor(writeCursor({ a: "7", b: null }))).toEqual({ a: "7", b: null });
});

test("percentiles of several cells are those of their histograms together", () => {
  const bucket = fc.record({
    bucket: fc.integer({ min: 0, max: 60 }),
    waited: fc.integer({ min: 0, max: 50 }),
    ran: fc.integer({ min: 0, max: 50 }),
    failed: fc.integer({ min: 0, max: 50 }),
  });
  const how = { hasHistogram: true } as const;
  const body = (rows: Parameters<typeof figuresIn>[0]) => ({
    period: { from: at(0), to: at(1) },
    before: { from: at(0), to: at(1) },
    kinds: [{ kind: "k", lane: "l", now: figuresIn(rows, how), before: figuresIn([], how) }],
    isMore: false,
  });
  fc.assert(
    fc.property(fc.array(bucket), fc.array(bucket), (a, b) => {
      expect(merged("/kind-figures", { a: body(a), b: body(b) })).toEqual(body([...a, ...b]));
    }),
  );
});

test("coming times of all cells are in order, their work and what can do it add up", () => {
  const lane = (times: number, share: number) => ({
    lane: "default",
    times,
    unknown: 0,
    expectedMs: times * 10,
    capacityMs: 100,
    busiest: { at: at(share), share },
  });
  const body = (ms: readonly number[], share: number): UpcomingReply => ({
    from: at(0),
    to: at(100),
    times: ms.map((one) => ({
      at: at(one),
      schedule: `s${one}`,
      app: "x",
      kind: "k",
      lane: "default",
      timezone: "UTC",
      paused: false,
      mayOverlap: false,
      capped: false,
    })),
    parts: [ms.length, 0],
    lanes: [lane(ms.length, share)],
    apps: ["x"],
    isMore: false,
  });
  const all = merged("/upcoming", { a: body([1, 5], 2), b: body([3], 7) }) as UpcomingReply;
  expect(all.times.map(({ schedule }) => schedule)).toEqual(["s1", "s3", "s5"]);
  expect(all).toMatchObject({
    parts: [3, 0],
    lanes: [{ times: 3, expectedMs: 30, capacityMs: 200, busiest: { share: 7 } }],
    apps: ["x"],
  });
});
