import { describe, expect, onTestFinished, test } from "vitest";
import { tablesOf } from "../../bench/peers/tables.ts";
import { clockQueries } from "../../bench/soak/clock.ts";
import { type Load, type Mark, marksOf, type Times } from "../../bench/soak/marks.ts";
import { workBy } from "../../bench/soak/peer.ts";
import { marksTable, soakTable, soakVerdicts } from "../../bench/soak/report.ts";
import { soak } from "../../bench/soak/soak.ts";
import type { Ground } from "../../bench/ground.ts";
import { createPostgresStore, openConnections } from "../../src/adapters/postgres/index.ts";
import { freshDatabase } from "../support/database.ts";

async function openGround(): Promise<Pick<Ground, "database">> {
  const { url, pool, close } = await freshDatabase({ own: true });
  onTestFinished(() => close());
  const store = (connections: number) => {
    const opened = openConnections({ url, applicationName: "soak test", connections });
    onTestFinished(() => opened.close());
    return createPostgresStore(opened);
  };
  return { database: async () => ({ url, pool, store, cpuUs: async () => 0, close: async () => {} }) };
}

test("at each mark as many rows are there as were worked before the first, whatever came and left since", async () => {
  const told: string[] = [];
  const marks = await soak(await openGround(), { jobs: 6_000, kept: 600, jobsAMark: 2_000 }, (text) => told.push(text));
  expect(marks.map(({ jobs, kept }) => [jobs, kept])).toEqual([
    [2_000, 600],
    [4_000, 600],
    [6_000, 600],
  ]);
  expect(told).toHaveLength(4);
  for (const { claimMs, settleMs, walBytesPerJob, tables, ofJob } of marks) {
    expect(claimMs.p99).toBeGreaterThanOrEqual(claimMs.p50);
    expect(settleMs.p50).toBeGreaterThan(0);
    expect(walBytesPerJob).toBeGreaterThan(500);
    expect(Object.keys(tables).toSorted()).toEqual(["job", "lease", "outbox"]);
    expect(ofJob["job_finished"]).toBeGreaterThan(0);
  }
  expect(soakTable(marks)).toContain("job_finished MB");
});

test("a table that grew by more than a fifth, or claims that became as much slower, miss the bar", () => {
  const mark = (job: number, p99: number): Mark => ({
    jobs: 100_000,
    kept: 10,
    perSecond: 1,
    claimMs: { p50: 1, p99 },
    settleMs: { p50: 1, p99: 1 },
    walBytesPerJob: 1,
    deadRows: 0,
    tables: { job },
    ofJob: { job },
  });
  const passed = (...marks: readonly Mark[]) => soakVerdicts(marks).map(({ pass }) => pass);
  const mb = 1024 * 1024;
  expect(passed(mark(100 * mb, 10), mark(900 * mb, 90), mark(120 * mb, 12))).toEqual([true, true]);
  expect(passed(mark(100 * mb, 10), mark(121 * mb, 12))).toEqual([false, true]);
  expect(passed(mark(100 * mb, 10), mark(120 * mb, 12.1))).toEqual([true, false]);
  // A small table may come and go, up to a bound of its own.
  expect(passed(mark(mb, 10), mark(9 * mb, 10))).toEqual([true, true]);
  expect(passed(mark(mb, 10), mark(10 * mb, 10))).toEqual([false, true]);
});

describe("a peer under the same load", () => {
  /** Starts each job of a call `times` times, at once. */
  function contender(times: number) {
    const calls: number[][] = [];
    let start = (_n: number): void => {};
    return {
      calls,
      async insert(numbers: readonly number[]) {
        calls.push([...numbers]);
        for (const n of numbers) for (let time = 0; time < times; time += 1) start(n);
      },
      async work(onStart: (n: number) => void) {
        start = onStart;
      },
    };
  }
  const query = async () => ({ rows: [{ mark: 0, exists: false }] });
  const asked = { name: "pg-boss", pool: { query } as unknown as Load["pool"], tables: tablesOf["pg-boss"] } as const;

  test("is given 1,000 jobs in a call, and each its own number", async () => {
    const peer = contender(1);
    const work = await workBy(peer, asked);
    await work(1_500);
    await work(2);
    expect(peer.calls.map((numbers) => [numbers[0], numbers.length])).toEqual([
      [0, 1_000],
      [1_000, 500],
      [1_500, 2],
    ]);
  });

  test("is refused when it runs a job twice", async () => {
    const work = await workBy(contender(2), asked);
    await expect(work(10)).rejects.toThrow("pg-boss ran jobs twice: 20 starts of 10 jobs");
  });

  test("has the times of its own statements, of claims that found jobs only, by either way to call pg", async () => {
    class Client {
      query(...args: unknown[]): unknown {
        const answer = { rowCount: args[1] };
        const last = args.at(-1);
        return typeof last === "function" ? last(null, answer) : Promise.resolve(answer);
      }
    }
    const times: Times = { claim: [], settle: [] };
    clockQueries(Client, { claim: /^fetch/, settle: /^complete/ }, times);
    const client = new Client();
    await expect(client.query({ text: "fetch" }, 5)).resolves.toEqual({ rowCount: 5 });
    await client.query("fetch", 0);
    await client.query("insert", 5);
    const answers: unknown[] = [];
    client.query("complete", 3, (_error: unknown, answer: unknown) => answers.push(answer));
    expect(answers).toEqual([{ rowCount: 3 }]);
    expect([times.claim.length, times.settle.length]).toEqual([1, 1]);
  });

  test("has marks as Belfry has, where it may keep what it does not yet delete, and no bars", async () => {
    const { pool } = await (await openGround()).database();
    const load: Load = {
      pool,
      hot: { schema: "raw", names: ["job"], job: "job", kept: "select 7" },
      times: { claim: [1], settle: [1] },
      keepsExactly: false,
      lay: async () => {},
      turn: async () => void load.times.claim.push(3),
    };
    await pool.query("create schema raw create table job (id int primary key)");
    const plan = { jobs: 4_000, kept: 1_000, jobsAMark: 2_000 };
    const marks = await marksOf(load, plan, () => {});
    expect(marks.map(({ jobs, kept, claimMs }) => [jobs, kept, claimMs.p99])).toEqual([
      [2_000, 7, 3],
      [4_000, 7, 3],
    ]);
    const shown = marksTable(marks);
    expect(shown).toContain("all of job MB");
    expect(shown).not.toContain("job_pkey MB");
    expect(shown).not.toContain("bar");
    await expect(marksOf({ ...load, keepsExactly: true }, plan, () => {})).rejects.toThrow(
      "7 kept jobs are there after 2000, not 1000",
    );
  });
});
