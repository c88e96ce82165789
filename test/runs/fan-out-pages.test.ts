import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineFanOut, defineJob, type FanOutOptions, type Moment, sql } from "../../src/core/index.ts";
import type { FanOutBody } from "../../src/core/define/definition.ts";
import { momentJson } from "../../src/core/define/moment.ts";
import type { Json, RunId } from "../../src/core/job/job.ts";
import { type NewRun, type NewTarget, noAftermath, type StartedRun } from "../../src/core/ports/ports.ts";
import { runLimits } from "../../src/core/ports/run-limits.ts";
import { runFanOut } from "../../src/core/work/run-fan-out.ts";
import { attemptOf, dueAt, tableOf, upTo } from "./attempt.ts";

const limit = runLimits.fanOutPageRowsMax;
const push = defineJob({ id: "send-push", payload: z.object({ user: z.number() }), run: () => {} });

interface Row {
  readonly id: number;
}

const moment: Moment = {
  scheduledFor: new Date(dueAt),
  day: "2031-05-06",
  timezone: "UTC",
  isCatchUp: false,
  missedCount: 0,
};

interface Page {
  readonly first: string | null | undefined;
  readonly count: number;
  readonly cursor: Json | null;
}

type Options = Partial<FanOutOptions<Row, { user: number }>>;

/** One attempt over a table, or over `from`; `start` is what it finds when it starts its run. */
async function fannedOut({
  ids = [],
  start = {},
  answer = () => ({}),
  ...options
}: Options & {
  readonly ids?: readonly number[];
  readonly start?: Partial<StartedRun>;
  readonly answer?: (page: number, targets: readonly NewTarget[]) => object;
}) {
  const { asked, tx } = tableOf(ids);
  const moments: Moment[] = [];
  const pages: Page[] = [];
  const targets: NewTarget[] = [];
  const started: NewRun[] = [];
  const sealed: RunId[] = [];
  const fanOut = defineFanOut<Row, { user: number }>({
    id: "daily-quiz",
    from: (at) => (moments.push(at), sql`select id from app_user`),
    key: ({ id }, { day }) => `${day}:${id}`,
    each: push,
    payload: ({ id }) => ({ user: id }),
    ...options,
  });
  const attempt = attemptOf(fanOut, {
    store: {
      transaction: async (work) => await work({ ...tx, brokenBy: null, nested: (inner) => inner() }),
      cancelingRuns: async () => [],
      startRun: async (run) => {
        started.push(run);
        const known = { created: true, sealed: false, cursor: null, input: run.input, parentId: null };
        return { ...known, runId: "9" as RunId, aftermath: noAftermath, ...start };
      },
      addPage: async (_, page) => {
        pages.push({ first: page.targets[0]?.job.key, count: page.targets.length, cursor: page.cursor });
        targets.push(...page.targets);
        const written = { written: true, created: page.targets.length, conflicts: 0, aftermath: noAftermath };
        return { ...written, ...answer(pages.length, page.targets) };
      },
      sealRun: async (id) => {
        sealed.push(id);
        return true;
      },
    },
  });
  const { definition, scope, context } = attempt;
  const run = runFanOut(scope, definition.body as FanOutBody, context);
  const error = await run.then(
    () => null,
    (thrown: unknown) => (thrown as Error).message,
  );
  return { ...attempt, error, moments, asked: asked.map(({ after }) => after), pages, targets, started, sealed };
}

describe("the pages of a query", () => {
  test.each<[number, readonly (number | null)[], readonly Page[]]>([
    [0, [null], []],
    [1, [null], [{ first: "2031-05-06:1", count: 1, cursor: "1" }]],
    [limit - 1, [null], [{ first: "2031-05-06:1", count: limit - 1, cursor: `${limit - 1}` }]],
    [limit, [null, limit], [{ first: "2031-05-06:1", count: limit, cursor: `${limit}` }]],
    [
      limit + 1,
      [null, limit],
      [
        { first: "2031-05-06:1", count: limit, cursor: `${limit}` },
        { first: `2031-05-06:${limit + 1}`, count: 1, cursor: `${limit + 1}` },
      ],
    ],
  ])("of %i rows end at the first one that is not full", async (count, asked, pages) => {
    const done = await fannedOut({ ids: upTo(count) });
    expect(done.error).toBe(null);
    expect(done.asked).toEqual(asked);
    expect(done.pages).toEqual(pages);
    expect(done.results).toEqual([{ runId: "9", targets: count, existing: 0 }]);
  });

  test("keep the cursor before rows of one value until the last of them is written", async () => {
    const start = { cursor: "3" };
    const done = await fannedOut({ ids: [1, 2, 3, 4, ...Array.from({ length: 2 * limit + 1 }, () => 5), 6], start });
    expect(done.asked).toEqual([3, 5]);
    expect(done.pages.map(({ count, cursor }) => [count, cursor])).toEqual([
      [limit, "3"],
      [limit, "3"],
      [2, "5"],
      [1, "6"],
    ]);
  });

  test("of rows of one value that fill whole pages move it with the last one", async () => {
    const done = await fannedOut({ ids: Array.from({ length: 2 * limit }, () => 5) });
    expect(done.pages.map(({ count, cursor }) => [count, cursor])).toEqual([
      [limit, null],
      [limit, "5"],
    ]);
    expect(done.asked).toEqual([null, 5]);
  });
});

async function* iterable(count: number): AsyncIterable<Row> {
  for (const id of upTo(count)) yield { id };
}

test.each<[number, readonly number[]]>([
  [0, []],
  [1, [1]],
  [limit - 1, [limit - 1]],
  [limit, [limit]],
  [limit + 1, [limit, 1]],
  [2 * limit, [limit, limit]],
])("an iterable of %i rows is written in full pages and a rest", async (count, pages) => {
  const done = await fannedOut({ from: () => iterable(count), start: { cursor: "7" } });
  expect(done.pages.map((page) => [page.count, page.cursor])).toEqual(pages.map((rows) => [rows, null]));
  expect(new Set(done.targets.map(({ job }) => job.key)).size).toBe(count);
  expect(done.results).toEqual([{ runId: "9", targets: count, existing: 0 }]);
});

describe("the run of a fan-out", () => {
  test("is opened with the job's moment and key, sealed in its own success, and then resolved", async () => {
    const done = await fannedOut({ ids: [1] });
    expect(done.started).toMatchObject([
      { kind: "daily-quiz", key: "monday", input: momentJson(moment), starterId: "7", parentId: null, sealed: false },
    ]);
    expect(done.sealed).toEqual(["9"]);
    expect(done.left).toEqual([{ ...noAftermath, runs: ["9"] }]);
    expect(done.moments).toEqual([moment]);
  });

  test("that was sealed gets no page again", async () => {
    const done = await fannedOut({ ids: [1, 2], start: { sealed: true } });
    expect([done.asked, done.pages, done.moments]).toEqual([[], [], []]);
    expect(done.results).toEqual([{ runId: "9", targets: 0, existing: 0 }]);
    expect(done.sealed).toEqual(["9"]);
  });

  test.each<[string, Json, Moment]>([
    [
      "its own, of its first attempt",
      { ...(momentJson(moment) as object), day: "2031-05-01" },
      { ...moment, day: "2031-05-01" },
    ],
    ["the job's, when it keeps none", null, moment],
    ["the job's, when it keeps something else", { day: "2031-05-01" }, moment],
  ])("has one moment for every row: %s", async (_, input, expected) => {
    const done = await fannedOut({ ids: [1], start: { input } });
    expect(done.moments).toEqual([expected]);
    expect(done.targets.map(({ job }) => [job.key, job.dueAt])).toEqual([[`${expected.day}:1`, dueAt]]);
  });

  test.each([
    ["monday", null, ""],
    ["monday#2", null, ""],
    ["monday", "8", ""],
    ["monday#2", "8", "#2"],
    ["mon#3#12", "8", "#12"],
    ["monday#2b", "8", ""],
  ])("with key %s and parent %s ends the keys of its targets with %j", async (key, parentId, mark) => {
    const { definition, scope, context, ports } = attemptOf(
      defineFanOut({
        id: "daily-quiz",
        from: () => iterable(1),
        key: (row) => `u${row.id}`,
        each: push,
        payload: ({ id }) => ({ user: id }),
      }),
      { claimed: { key }, store: {} },
    );
    const keys: unknown[] = [];
    Object.assign(ports.store, {
      startRun: async ({ input }: NewRun) => ({ runId: "9", sealed: false, cursor: null, input, parentId }),
      addPage: async (_: RunId, page: { targets: readonly NewTarget[] }) => {
        keys.push(...page.targets.map(({ job }) => job.key));
        return { written: true, created: 1, conflicts: 0, aftermath: noAftermath };
      },
      sealRun: async () => true,
    });
    await runFanOut(scope, definition.body as FanOutBody, context);
    expect(keys).toEqual([`u1${mark}`]);
  });
});

describe("a page", () => {
  test("that the run takes no more fails the attempt, and no page follows", async () => {
    const done = await fannedOut({ ids: upTo(limit + 1), answer: () => ({ written: false, created: 0 }) });
    expect(done.error).toBe("run 9 takes no more pages: it was canceled, or this attempt lost its job");
    expect(done.pages).toHaveLength(1);
    expect([done.sealed, done.results, done.ports.measured]).toEqual([[], [], []]);
  });

  test("counts its new targets, those that exist, and conflicts only when there are some", async () => {
    const answers = [{ created: limit }, { created: limit - 3 }, { created: 1, conflicts: 2 }];
    const done = await fannedOut({ ids: upTo(2 * limit + 5), answer: (page) => answers[page - 1] ?? {} });
    expect(done.results).toEqual([{ runId: "9", targets: 2 * limit - 2, existing: 7 }]);
    const dimensions = { job: "daily-quiz" };
    expect(done.ports.measured).toEqual([
      { name: "fanout.targets", value: limit, dimensions },
      { name: "fanout.targets", value: limit - 3, dimensions },
      { name: "fanout.targets", value: 1, dimensions },
      { name: "fanout.conflicts", value: 2, dimensions },
    ]);
    expect(done.ports.lines).toEqual([{ level: "info", message: "7 targets exist already", fields: { run: "9" } }]);
  });

  test.each([
    [0, 0, []],
    [1, 1, ["1 targets exist already"]],
  ])("of which %i exist is said in %i lines", async (existing, _, messages) => {
    const done = await fannedOut({ ids: [1, 2], answer: () => ({ created: 2 - existing, conflicts: existing }) });
    expect(done.ports.lines.map(({ message }) => message)).toEqual(messages);
    const conflicts = done.ports.measured.filter(({ name }) => name === "fanout.conflicts");
    expect(conflicts.map(({ value }) => value)).toEqual(existing === 0 ? [] : [existing]);
  });

  test("keeps the row of a target only for the question whether it is still wanted", async () => {
    const plain = await fannedOut({ ids: [1, 2] });
    expect(plain.targets.map(({ row }) => row)).toEqual([null, null]);
    const asking = await fannedOut({ ids: [1, 2], stillWanted: () => true });
    expect(asking.targets.map(({ row }) => row)).toEqual([{ id: 1 }, { id: 2 }]);
  });
});
