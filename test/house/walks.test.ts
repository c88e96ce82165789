/** How many files of `src` a reader enters who follows one call to its end: those of which it calls a named function. */
import { Session } from "node:inspector/promises";
import { expect, onTestFinished, test } from "vitest";
import { defineApp, defineJob, defineSchedule } from "../../src/compose/index.ts";
import { bindClient } from "../../src/machine/client.ts";
import { openApi } from "../api/harness.ts";
import { shop, world as shopWorld } from "../core/world.ts";
import { world as stageWorld } from "../schedules/world.ts";
import { testDatabase } from "../support/database.ts";

/** These worlds have a queue in memory. */
const filesOfQueue = ["src/aws/queue.ts", "src/aws/sqs-client.ts"];
const job = defineJob({ id: "followed", run() {} });

/** `walk` was taken once before: what a process does once is not of it. */
async function filesOf(walk: () => Promise<unknown>): Promise<readonly string[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  // The counts begin at zero again.
  await session.post("Profiler.takePreciseCoverage");
  await walk();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  const entered = result.filter(({ functions }) =>
    functions.some((each) => each.functionName !== "" && each.ranges[0]?.count),
  );
  const files = entered
    .flatMap(({ url }) => /\/(src\/(?!testing\/|postgres\/test-clock).*)$/.exec(url)?.[1] ?? [])
    .toSorted();
  // Every walk ends in a statement; without it nothing was counted.
  expect(files).toContain("src/postgres/statement.ts");
  return files;
}

test("from enqueue to SUCCESS: 28 files", async () => {
  const { store } = await testDatabase();
  const opened = await shop(
    [job],
    shopWorld(() => ({ store })),
  );
  bindClient(opened.client);
  onTestFinished(() => bindClient(null));
  const walk = async (): Promise<void> => {
    const { id } = await job.enqueue();
    await opened.work();
    expect((await store.job(id))?.state).toBe("SUCCESS");
  };
  await walk();
  expect([...filesOfQueue, ...(await filesOf(walk))].slice(28)).toEqual([]);
});

test("from a tick to its message: 18 files", async () => {
  const { store, clock } = await testDatabase();
  const schedule = defineSchedule({ id: "followed", every: "1m", run: job });
  const apps = [defineApp({ name: "test", jobs: [job], schedules: [schedule] })];
  const at = stageWorld(apps, { store, start: Date.UTC(2026, 10, 21, 8), advance: (ms) => clock.advance(ms) });
  await at.install();
  const walk = async (): Promise<void> => {
    await at.advance(60_000);
    await at.tick();
  };
  await walk();
  const before = at.sent.length;
  expect([...filesOfQueue, ...(await filesOf(walk))].slice(18)).toEqual([]);
  expect(at.sent).toHaveLength(before + 1);
});

test("GET /jobs: 9 files", async () => {
  const { call } = await openApi();
  await call("POST", "/jobs", { kind: "ping" });
  const walk = () => call("GET", "/jobs?state=QUEUED");
  expect((await walk()).body.jobs).toHaveLength(1);
  expect((await filesOf(walk)).slice(9)).toEqual([]);
});
