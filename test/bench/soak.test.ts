import { expect, onTestFinished, test } from "vitest";
import { soakTable, soakVerdicts } from "../../bench/soak/report.ts";
import { type Mark, soak } from "../../bench/soak/soak.ts";
import type { Ground } from "../../bench/ground.ts";
import { createPostgresStore, openConnections } from "../../src/postgres/index.ts";
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
  const shown: string[] = [];
  const marks = await soak(await openGround(), { jobs: 6_000, kept: 600, jobsAMark: 2_000 }, (text) =>
    shown.push(text),
  );
  expect(marks.map(({ jobs, kept }) => [jobs, kept])).toEqual([
    [2_000, 600],
    [4_000, 600],
    [6_000, 600],
  ]);
  expect(shown).toHaveLength(4);
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
