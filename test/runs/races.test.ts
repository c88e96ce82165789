/** Findings 5, 7, 10 and 23 of the races behind the design, on real connections. */
import type { RunId } from "../../src/machine/job.ts";
import { describe, expect, test } from "vitest";
import { addUpRuns } from "../../src/postgres/sql/resolve.ts";
import { runLimits } from "../../src/machine/run-limits.ts";
import type { Claimed } from "../../src/machine/store.ts";
import type { NewRun, NewTask } from "../../src/machine/run.ts";
import { aJob, claimOne, insertOne, settlementOf, settleOptions, settleAll } from "../contract/store/fixture.ts";
import { aRun, aTask, failed } from "../contract/store/run-fixture.ts";
import { deadlocks, messagesOf, shuffled, untilWaiting } from "../postgres/race.ts";
import { testDatabase, otherSession } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";

const db = eachTest(() => testDatabase({ connections: 12 }));

const task = (name: string, after: readonly number[]): NewTask => aTask(name, after);
const run = (key: string, tasks: readonly NewTask[]): NewRun => aRun({ key, tasks });

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** Starts a run and claims all it hands off. */
async function claimed(key: string, tasks: readonly NewTask[]): Promise<{ runId: RunId; held: readonly Claimed[] }> {
  const { runId, aftermath } = await db.store.startRun(run(key, tasks));
  const messages = messagesOf(aftermath.outbox);
  const held: Claimed[] = [];
  for (let from = 0; from < messages.length; from += 100) {
    const page = messages.slice(from, from + 100);
    held.push(...(await db.store.claim(page, { worker: "worker-1", alone: false })).claimed);
  }
  return { runId, held };
}

/** What a worker does with ended jobs: settle, then bring its runs forward while a look finds more. No pass runs. */
async function settle(jobs: readonly Claimed[]): Promise<readonly string[]> {
  const settled = await settleAll(db.store, jobs);
  const queued = [...messagesOf(settled.aftermath.outbox)];
  for (let round = 0; round < runLimits.resolveRoundsMax; round += 1) {
    const resolved = await db.store.resolve({
      runs: settled.aftermath.runs,
      limit: runLimits.resolveRowsMax,
    });
    queued.push(...messagesOf(resolved.aftermath.outbox));
    if (!resolved.more || resolved.steps === 0) break;
  }
  return queued.map((message) => message.jobId);
}

describe("finding 7: a wide join", () => {
  test("is released exactly once when its predecessors end on 12 connections at the same time", async () => {
    const width = 60;
    for (let round = 0; round < 15; round += 1) {
      const roots = numbers(width).map((n) => task(`root-${n}`, []));
      const { runId, held } = await claimed(`wide-${round}`, [...roots, task("join", numbers(width))]);
      const released = await Promise.all(shuffled(held, round).map((job) => settle([job])));
      expect(released.flat()).toHaveLength(1);
      const tasks = await db.store.tasks(runId);
      expect(tasks.at(-1)).toMatchObject({
        task: "join",
        state: "QUEUED",
        predecessors: { open: 0, ok: width, bad: 0 },
      });
    }
  });
});

describe("finding 5: a run", () => {
  test("closes although its last jobs settle at the same time, without a pass", async () => {
    for (let round = 0; round < 15; round += 1) {
      const { runId, held } = await claimed(
        `close-${round}`,
        numbers(24).map((n) => task(`t${n}`, [])),
      );
      await Promise.all(held.map((job) => settle([job])));
      expect(await db.store.run(runId)).toMatchObject({ state: "DONE", total: 24, done: 24, ok: 24, percent: 100 });
    }
    const { rows } = await db.pool.query("select count(*)::int as n from belfry.run_delta");
    expect(rows).toEqual([{ n: 0 }]);
  });
});

test("finding 5: a run whose last page and seal commit while it is added up does not close without that page", async () => {
  const paged = { ...aRun({ key: "paged", tasks: [] }), sealed: false };
  const { runId } = await db.store.startRun(paged);
  const delta = (columns: string, values: string) =>
    db.pool.query(`insert into belfry.run_delta (run_id, ${columns}) values (${runId}, ${values})`);
  await delta("total, done, ok", "5, 5, 5");
  const gate = await db.pool.connect();
  await gate.query("select pg_advisory_lock(5)");
  // The statement as it is, held between its snapshot and its lock of the run.
  const gated = "select run.* from belfry.run, (select pg_advisory_xact_lock_shared(5)) gate where";
  const held = addUpRuns.text.replace("select * from belfry.run where", gated);
  expect(held).toContain(gated);
  const adding = db.pool.query(held, [[runId]]);
  await untilWaiting(db);
  await delta("total", "3");
  await db.store.sealRun(runId, {});
  await gate.query("select pg_advisory_unlock(5)");
  gate.release();
  await adding;
  expect(await db.store.run(runId)).toMatchObject({ state: "RUNNING" });
  await db.store.resolve({ runs: [runId], limit: 10 });
  expect(await db.store.run(runId)).toMatchObject({ state: "RUNNING", total: 8, done: 5 });
});

describe("finding 10: settles over shared successors", () => {
  test("and cancels of those successors never deadlock", async () => {
    const width = 40;
    for (let round = 0; round < 5; round += 1) {
      const roots = numbers(width).map((n) => task(`root-${n}`, []));
      const joins = numbers(30).map((n) => task(`join-${n}`, shuffled(numbers(width), n).slice(0, 8)));
      const { runId, held } = await claimed(`shared-${round}`, [...roots, ...joins]);
      const waiting = (await db.store.tasks(runId)).filter((one) => one.blocked).map((one) => one.jobId);
      const groups = numbers(width / 4).map((n) => shuffled(held, round).slice(n * 4, n * 4 + 4));
      await Promise.all([
        ...groups.map((group) => settle(group)),
        ...numbers(5).map((n) => db.store.cancel(shuffled(waiting, n).slice(0, 10))),
      ]);
    }
    expect(await deadlocks(db)).toBe(0);
  });
});

describe("finding 23: a wide release", () => {
  test("frees all successors in the settle, hands off a bounded number, and leaves the rest to the relay", async () => {
    const count = runLimits.releasedRowsMax + 50;
    const tasks = [task("root", []), ...numbers(count).map((n) => task(`leaf-${n}`, [0]))];
    const { held } = await claimed("fan", tasks);
    const settled = await settleAll(db.store, held);
    expect(messagesOf(settled.aftermath.outbox)).toHaveLength(runLimits.releasedRowsMax);
    expect(settled.aftermath.leftToRelay).toEqual(["default"]);
    expect(messagesOf(await db.store.relay({ limit: 500 }))).toHaveLength(50);
  });

  test("hands off what may start, however many are skipped in the same settle", async () => {
    const skipped = numbers(runLimits.releasedRowsMax).map((n) => task(`skipped-${n}`, [0]));
    const { held } = await claimed("mixed", [task("bad", []), task("good", []), ...skipped, task("leaf", [1])]);
    const settled = await db.store.settle(
      held.map((job, n) => settlementOf(job, n === 0 ? failed : {})),
      settleOptions,
    );
    expect(messagesOf(settled.aftermath.outbox)).toHaveLength(1);
    expect(settled.aftermath.leftToRelay).toEqual([]);
  });
});

test("a chain of skipped tasks is spread in rounds, and the run still closes", async () => {
  const chain = [task("t0", []), ...numbers(40).map((n) => task(`t${n + 1}`, [n]))];
  const { runId, held } = await claimed("chain", chain);
  await settleAll(db.store, held, failed);
  for (let more = true; more;) ({ more } = await db.store.resolve({ runs: "all", limit: 10 }));
  expect(await db.store.run(runId)).toMatchObject({ state: "FAILED", failed: 1, skipped: 40, done: 41 });
});

test("a run of 10,000 tasks and 20,000 edges is one transaction, whose time grows as the tasks do", async () => {
  const quickest = async (count: number, keys: readonly string[]): Promise<number> => {
    const tasks = numbers(count).map((n) => task(`t${n}`, n < 100 ? [] : [n - 100, n - 50]));
    const times: number[] = [];
    for (const key of keys) {
      const from = performance.now();
      await db.store.startRun(run(key, tasks));
      times.push(Math.round(performance.now() - from));
    }
    if (process.env["SHOW_TIMES"] !== undefined) process.stdout.write(`startRun ${count}: ${times.join(", ")} ms\n`);
    return Math.min(...times);
  };
  // Side by side, because a busy machine slows both. A time that grows as the square would be a hundred times as long.
  const small = await quickest(1_000, ["1", "2", "3", "4", "5"]);
  expect((await quickest(10_000, ["a", "b", "c"])) / small).toBeLessThan(40);
  const { rows } = await db.pool.query(
    "select count(*)::int as jobs, (select count(*)::int from belfry.edge) as edges from belfry.job",
  );
  expect(rows).toEqual([{ jobs: 35_000, edges: 68_400 }]);
});

test("a page whose job ends before it is canceled cancels none, and is not the last page", async () => {
  const { runId, held } = await claimed("late", [task("a", []), task("b", [0])]);
  await db.store.cancelRun(runId);
  const page = await db.store.transaction(async (tx) => {
    await tx.query("select from belfry.job where id = any($1::bigint[]) for no key update", [
      held.map((job) => job.jobId),
    ]);
    const canceling = db.store.cancelPage(runId, { limit: 1 });
    await untilWaiting(db);
    await db.store.settle(
      held.map((job) => settlementOf(job)),
      { ...settleOptions, tx },
    );
    return { canceling };
  });
  expect(await page.canceling).toMatchObject({ canceled: 0, isEmpty: false });
  expect(await db.store.cancelPage(runId, { limit: 1 })).toMatchObject({ canceled: 1, isEmpty: false });
  expect(await db.store.cancelPage(runId, { limit: 1 })).toMatchObject({ canceled: 0, isEmpty: true });
});

test("a page that is being written holds a cancel of its run back, so that none of its jobs is missed", async () => {
  const { store, pool } = db;
  const by = await claimOne(store, await insertOne(store));
  const { runId } = await store.startRun(aRun({ sealed: false }));
  const target = aJob({ kind: "push", key: "t" });
  const holder = await otherSession(pool);
  await store.insert([target], { tx: holder });
  const paging = store.addPage(runId, { targets: [{ job: target, row: null }], cursor: null, by });
  await untilWaiting(db);
  const canceling = store.cancelRun(runId);
  const first = await Promise.race([canceling.then(() => "canceled"), untilWaiting(db, 2).then(() => "waits")]);
  await holder.query("rollback");
  expect(first).toBe("waits");
  expect(await paging).toMatchObject({ written: true, created: 1 });
  expect(await canceling).toBe(true);
  expect(await store.cancelPage(runId, { limit: 10 })).toMatchObject({ canceled: 1 });
});
