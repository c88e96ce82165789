import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineJob, defineSweep, sql } from "../../src/core/index.ts";
import type { Context } from "../../src/core/define/context.ts";
import type { SweepBody } from "../../src/core/define/definition.ts";
import { momentJson } from "../../src/core/define/moment.ts";
import type { Json, NewJob } from "../../src/core/job/job.ts";
import { noAftermath } from "../../src/core/ports/ports.ts";
import { runSweep } from "../../src/core/work/run-sweep.ts";
import { attemptOf, dueAt, tableOf, upTo } from "./attempt.ts";

const open = defineJob({ id: "open", payload: z.object({ user: z.number() }), run: () => {} });
const moment = { scheduledFor: new Date(dueAt), day: "2031-05-06", timezone: "UTC", isCatchUp: false, missedCount: 0 };
const dimensions = { job: "open-due" };

interface Given {
  readonly rows: number;
  readonly batchSize: number;
  readonly maxIterations: number;
  readonly payload?: Json;
  /** Keys that have a job. */
  readonly known?: readonly string[];
  readonly context?: Partial<Context>;
}

/** One job of a sweep over rows 1, 2, 3, ... */
async function swept({ rows, batchSize, maxIterations, payload = null, known = [], context = {} }: Given) {
  const { asked, tx } = tableOf(upTo(rows));
  /** What each statement inserted, and whether in the transaction of the job's success. */
  const inserted: (readonly [keys: readonly (string | null)[], isOwnPage: boolean])[] = [];
  const next: NewJob[] = [];
  let isOwnPage = false;
  const sweep = defineSweep<{ id: number }, { user: number }>({
    id: "open-due",
    due: () => sql`select id from capsule`,
    key: ({ id }) => `c${id}`,
    each: open,
    payload: ({ id }) => ({ user: id }),
    batchSize,
    maxIterations,
    maxLateness: "60s",
  });
  const attempt = attemptOf(sweep, {
    claimed: { payload },
    context: {
      ...context,
      tx: async (work) => {
        const result = await work(tx);
        attempt.results.push(result);
        return result;
      },
    },
    store: {
      transaction: async (work) => {
        isOwnPage = true;
        const done = await work({ ...tx, brokenBy: null, nested: (inner) => inner() });
        isOwnPage = false;
        return done;
      },
      insert: async (jobs) => {
        inserted.push([jobs.map(({ key }) => key), isOwnPage]);
        next.push(...jobs.filter(({ kind }) => kind === "open-due"));
        const isNew = ({ key }: NewJob): boolean => key === null || !known.includes(key);
        const results = jobs.map((job) => ({ id: "1" as never, created: isNew(job), isConflict: false }));
        return { results, aftermath: noAftermath };
      },
    },
  });
  await runSweep(attempt.scope, attempt.definition.body as SweepBody, attempt.context);
  return { ...attempt, asked: asked.map(({ after }) => after), inserted, next };
}

const keys = (...ids: readonly number[]): readonly string[] => ids.map((id) => `c${id}`);

describe("a sweep with two rows a page", () => {
  test.each<
    [rows: number, rounds: number, asked: (number | null)[], pages: [readonly string[], boolean][], after: Json]
  >([
    [0, 1, [null], [], null],
    [1, 1, [null], [[keys(1), false]], null],
    // A full page may be the last one: only the next one shows it.
    [2, 1, [null], [[keys(1, 2), false]], "2"],
    [0, 2, [null], [], null],
    [1, 2, [null], [[keys(1), true]], null],
    [2, 2, [null, 2], [[keys(1, 2), true]], null],
    [
      3,
      2,
      [null, 2],
      [
        [keys(1, 2), true],
        [keys(3), false],
      ],
      null,
    ],
    [
      4,
      2,
      [null, 2],
      [
        [keys(1, 2), true],
        [keys(3, 4), false],
      ],
      "4",
    ],
    [
      3,
      3,
      [null, 2],
      [
        [keys(1, 2), true],
        [keys(3), true],
      ],
      null,
    ],
    [
      5,
      3,
      [null, 2, 4],
      [
        [keys(1, 2), true],
        [keys(3, 4), true],
        [keys(5), false],
      ],
      null,
    ],
    [
      7,
      3,
      [null, 2, 4],
      [
        [keys(1, 2), true],
        [keys(3, 4), true],
        [keys(5, 6), false],
      ],
      "6",
    ],
  ])("of %i rows in %i rounds", async (rows, maxIterations, asked, pages, after) => {
    const done = await swept({ rows, batchSize: 2, maxIterations });
    expect(done.asked).toEqual(asked);
    const continued = after === null ? [] : [[["7:next"], false]];
    expect(done.inserted).toEqual([...pages, ...continued]);
    expect(done.next.map(({ key, payload, delayMs, dueAt: due }) => [key, payload, delayMs, due])).toEqual(
      after === null ? [] : [["7:next", { after, moment: momentJson(moment) }, 0, null]],
    );
    const created = pages.reduce((sum, [page]) => sum + page.length, 0);
    expect(done.results).toEqual([{ created, known: 0 }]);
    expect(done.ports.passed).toEqual(asked.slice(0, maxIterations - 1).map(() => "sweep.afterPage"));
    expect(done.ports.measured).toEqual([
      { name: "sweep.lateness", value: 0, dimensions },
      { name: "sweep.created", value: created, dimensions },
      { name: "sweep.known", value: 0, dimensions },
    ]);
  });
});

test("rows whose job exists are counted, and paged past", async () => {
  const done = await swept({ rows: 5, batchSize: 2, maxIterations: 10, known: keys(1, 3, 4) });
  expect(done.asked).toEqual([null, 2, 4]);
  expect(done.results).toEqual([{ created: 2, known: 3 }]);
  expect(done.ports.measured.slice(1)).toEqual([
    { name: "sweep.created", value: 2, dimensions },
    { name: "sweep.known", value: 3, dimensions },
  ]);
});

const stored = momentJson({ ...moment, day: "2031-05-01" });
test.each<[string, Json, number | null]>([
  ["no payload", null, null],
  ["a payload of something else", "after", null],
  ["the moment of a trigger", { moment: stored }, null],
  ["no cursor", { moment: stored, after: null }, null],
  ["a cursor", { moment: stored, after: "3" }, 3],
])("a job with %s reads from there on", async (_, payload, after) => {
  const done = await swept({ rows: 5, batchSize: 10, maxIterations: 1, payload });
  expect(done.asked).toEqual([after]);
  expect(done.results).toEqual([{ created: after === null ? 5 : 2, known: 0 }]);
});

describe("lateness", () => {
  test.each([
    [59_999, []],
    [60_000, []],
    [60_001, [{ name: "sweep.late", value: 1, dimensions }]],
  ])("of %i ms is measured, and alarmed beyond a minute", async (lateness, late) => {
    const done = await swept({ rows: 0, batchSize: 2, maxIterations: 2, context: { lateness } });
    expect(done.ports.measured.slice(0, -2)).toEqual([
      { name: "sweep.lateness", value: lateness, dimensions },
      ...late,
    ]);
    expect(done.ports.lines).toEqual(
      late.map(() => ({ level: "error", message: "a sweep started too late", fields: { lateness, max: 60_000 } })),
    );
  });

  test("of a job that continues another is not: the first one's was", async () => {
    const context = { lateness: 90_000 };
    const done = await swept({ rows: 0, batchSize: 2, maxIterations: 2, payload: { moment: stored }, context });
    expect(done.ports.measured.map(({ name }) => name)).toEqual(["sweep.created", "sweep.known"]);
    expect(done.ports.lines).toEqual([]);
  });
});

test("a sweep that has to end reads no page", async () => {
  const context = { signal: AbortSignal.abort(new Error("the worker stops")) };
  await expect(swept({ rows: 3, batchSize: 2, maxIterations: 2, context })).rejects.toThrow("the worker stops");
});
