import { beforeEach, expect, test } from "vitest";
import { cancelJobs, retryJobs } from "../../src/insight/cancel-and-retry.ts";
import { defineGraph, defineJob, PermanentError } from "../../src/compose/index.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { aJob } from "../contract/store/fixture.ts";
import { jobOf, lane, shop, world } from "../core/world.ts";
import { startedRun, stateOf } from "../runs/drive.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { watchTrips } from "./trips.ts";

let db: TestDatabase;
let sent: string[];
beforeEach(async () => {
  db = await testDatabase({ own: true, connections: 1, txConnections: 1 });
  sent = watchTrips(db);
});

const ports = () => world(() => ({ store: db.store }));
const graph = () =>
  defineGraph({
    id: "chain",
    version: 1,
    tasks(task) {
      const a = task("a", { run: () => 1 });
      task("b", { after: { a }, run: () => null });
    },
  });

test("retry of one job beside 12,000 due ones of another lane: one message, three statements at most", async () => {
  const fails = defineJob({
    id: "fails",
    run() {
      throw new PermanentError("no");
    },
  });
  const opened = await shop([fails], ports());
  const id = await opened.enqueue(fails, undefined);
  await opened.work();
  const later = { lane: "other", delayMs: contractLimits.dispatchWindowMs + 1 };
  for (let page = 0; page < 12; page += 1) {
    await db.store.insert(Array.from({ length: 1_000 }, () => aJob(later)));
  }
  await db.clock.advance(contractLimits.dispatchWindowMs + 1_000);
  sent.length = 0;
  expect(await retryJobs(opened.world, [id])).toEqual([id]);
  expect(sent.slice(3)).toEqual([]);
  expect(opened.world.queue.receive("other", 20_000)).toEqual([]);
  expect(opened.world.queue.receive(lane, 10)).toHaveLength(1);
  expect(await jobOf(opened.world, id)).toMatchObject({ state: "QUEUED" });
});

test("the end of a graph's node, from its message to its successor's: six statements at most", async () => {
  const run = await startedRun(graph(), undefined, { world: ports() });
  sent.length = 0;
  expect(await run.shop.work()).toEqual([]);
  expect(await stateOf(run)).toEqual({ a: "SUCCESS", b: "QUEUED" });
  const counted = sent.filter((name) => name !== "run-jobs");
  expect(counted.slice(6)).toEqual([]);
});

test("cancel of a graph's task: its run is resolved when the call answers", async () => {
  const run = await startedRun(graph(), undefined, { world: ports() });
  const { store } = run.shop.world;
  const first = (await store.tasks(run.id)).find(({ task }) => task === "a");
  await cancelJobs(run.shop.world, run.shop.registry, first === undefined ? [] : [first.jobId]);
  expect(await stateOf(run)).toEqual({ a: "CANCELED", b: "SKIPPED" });
  expect((await store.run(run.id))?.state).toBe("FAILED");
});
