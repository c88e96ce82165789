import { describe, expect, test } from "vitest";
import { type ContenderName } from "../../bench/peers/contender.ts";
import { type Round, type Rounds, verdicts } from "../../bench/peers/judge.ts";
import { type Corner, stretch, type Stretch } from "../../bench/peers/ring.ts";
import { start, type Started } from "../../bench/peers/start.ts";
import { tablesOf } from "../../bench/peers/tables.ts";
import { testDatabase } from "../support/database.ts";

const of = (perSecond: number, postgresUs = 10): Stretch => ({ perSecond, postgresUs, nodeUs: 5, walBytes: 100 });

const round = (both: Stretch, beside: number, idleMs: readonly number[]): Round => ({
  stretches: { both, "both beside": of(beside) },
  idleMs,
  loadedMs: idleMs.map((ms) => ms * 2),
  keptBytes: 700,
});

/** The second round runs on a machine that has become half as quick; the third is an outlier. */
const three = (rate: number, cpu: number, ms: number, beside: number): readonly Round[] =>
  [1, 0.5, 0.01].map((speed) => round(of(rate * speed, cpu), rate * speed * beside, [ms, ms + 1, ms + 2]));

const rounds: Rounds = {
  roof: three(50_000, 5, 1, 1),
  belfry: three(24_000, 30, 4, 0.95),
  "belfry-sqs": [{ stretches: {}, idleMs: [9, 9, 9], loadedMs: [], keptBytes: null }],
  "graphile-worker": three(20_000, 40, 4, 0.5),
  "pg-boss": three(12_000, 80, 20, 0.5),
};

describe("the report of the peers", () => {
  test("judges by the rounds' own ratios and the quicker peer", () => {
    const found = Object.fromEntries(verdicts(rounds).map(({ name, ratio, pass }) => [name, [ratio.toFixed(2), pass]]));
    expect(found).toMatchObject({
      "end to end: insert and drain at once, to graphile-worker": ["1.20", true],
      "end to end: insert and drain at once, to pg-boss": ["2.00", true],
      "Postgres CPU end to end, to graphile-worker": ["0.75", true],
      "pick-up when idle, p50, to the quicker peer": ["1.00", true],
      "end to end beside the crowd, to graphile-worker": ["2.28", false],
      "end to end beside the crowd, to empty": ["0.95", true],
    });
  });
});

interface Planted {
  readonly started: number;
  readonly starts: number;
  readonly done: number | null;
}

/** A contender that was given 1,000 jobs. */
function contender(name: ContenderName, { started, starts, done }: Planted): Corner {
  let asked = 0;
  const process = {
    ask: async (what: { do: string }) =>
      what.do === "run" ? { did: "run", insertMs: 1 } : { did: "stop", nodeUs: 1, started, starts },
  } as unknown as Started;
  const answers: Readonly<Record<string, () => unknown>> = {
    unfinished: () => ({ exists: false }),
    done: () => ({ count: asked++ === 0 ? 0 : done }),
  };
  const pool = {
    query: async (text: string) => ({ rows: [answers[text]?.() ?? { bytes: "0", pid: 0 }] }),
  } as unknown as Corner["pool"];
  const tables = { ...tablesOf[name], unfinished: "unfinished", done: done === null ? null : "done" };
  return { name, process, pool, tables, mark: 0 };
}

describe("a contender that loses a job is reported by name", () => {
  const run = (planted: Planted) => stretch(contender("pg-boss", planted), { insert: null, work: 1_000 });

  test("a handler that never starts", async () => {
    await expect(run({ started: 999, starts: 999, done: 999 })).rejects.toThrow("pg-boss lost jobs: 999 of 1000");
  });
  test("a handler that starts twice", async () => {
    await expect(run({ started: 1_000, starts: 1_001, done: 1_000 })).rejects.toThrow("pg-boss ran jobs twice: 1001");
  });
  test("an outcome that is not kept", async () => {
    await expect(run({ started: 1_000, starts: 1_000, done: 999 })).rejects.toThrow(
      "pg-boss lost outcomes: 999 of 1000",
    );
  });
  test("and none that loses nothing", async () => {
    await expect(run({ started: 1_000, starts: 1_000, done: 1_000 })).resolves.toMatchObject({ nodeUs: 0.001 });
    await expect(run({ started: 1_000, starts: 1_000, done: null })).resolves.toMatchObject({ nodeUs: 0.001 });
  });
});

test("Belfry's own contender works off what it is given, in a process of its own", async () => {
  const database = await testDatabase({ own: true });
  const process = await start({ name: "belfry", url: database.url, peers: "", sqs: null });
  const corner: Corner = { name: "belfry", process, pool: database.pool, tables: tablesOf.belfry, mark: 0 };
  const bulk = { first: 0, count: 120, perCall: 50 };
  const inserted = await stretch(corner, { insert: bulk, work: 0 });
  const drained = await stretch(corner, { insert: null, work: 120 });
  for (const { perSecond, postgresUs, walBytes } of [inserted, drained]) {
    expect(perSecond).toBeGreaterThan(0);
    expect(postgresUs).toBeGreaterThan(0);
    expect(walBytes).toBeGreaterThan(100);
  }
  const { ms } = await process.ask({ do: "idle", samples: 3 }, "latency");
  expect(ms).toHaveLength(3);
  await process.close();
});
