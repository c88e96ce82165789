import { expect, test } from "vitest";
import { type EventSink, publishPage } from "../../src/insight/publish.ts";
import { world } from "../core/world.ts";
import type { Settlement } from "../../src/machine/store.ts";
import type { JobId } from "../../src/machine/job.ts";
import {
  insertMany,
  messageFor,
  running,
  settlementOf,
  settleOptions,
  insertAlike,
} from "../contract/store/fixture.ts";
import { aTask, failed, workbench } from "../contract/store/run-fixture.ts";
import { until } from "../local/until.ts";
import { testDatabase } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";
import { readOn } from "./read-on.ts";
import { readEvents } from "../../src/insight/stream.ts";
import { readKindTotals } from "../../src/insight/kind-totals.ts";

/** One statement moves so many jobs, so one event row has as many moves. */
const many = 1_000;

const db = eachTest(() => testDatabase({ connections: 2 }));

async function oneRow(count = many): Promise<readonly string[]> {
  const ids = await insertAlike(db.store, count);
  const { rows } = await db.pool.query("select cardinality(job_ids) as moves from belfry.event");
  expect(rows).toEqual([{ moves: count }]);
  return ids.toSorted();
}

test.each([
  [1, 30],
  [7, 200],
  [300, many],
])("a stream read by pages of %i brings each of %i moves of a row once, in order", async (limit, count) => {
  const { cursor } = await readEvents(db.insight, null, 1);
  const ids = await oneRow(count);
  const { events: seen } = await readOn(db.insight, cursor, limit);
  expect(seen.map((event) => event.job).toSorted()).toEqual(ids);
  expect(new Set(seen.map((event) => event.id)).size).toBe(count);
});

test.each([1, 2, 10])(
  "moves of a job come in their order by pages of %i, also when the later one's transaction began first",
  async (limit) => {
    const { cursor } = await readEvents(db.insight, null, 1);
    const [jobId] = (await insertMany(db.store, [{}])) as [JobId];
    await db.store.transaction(async (tx) => {
      const { claimed } = await db.store.claim([{ jobId, generation: 1, trace: "" }], { worker: "w", alone: false });
      const { settled } = await db.store.settle(
        claimed.map((job) => settlementOf(job)),
        { ...settleOptions, worker: "w", tx },
      );
      expect(settled).toEqual([jobId]);
    });
    const { events } = await readOn(db.insight, cursor, limit);
    expect(events.map(({ to }) => to)).toEqual(["QUEUED", "RUNNING", "SUCCESS"]);
  },
);

test("the publisher sends each move once, also when the sink refuses in the middle, and marks only the whole row", async () => {
  const ports = world();
  const sent: string[] = [];
  let calls = 0;
  const sink: EventSink = {
    name: "refuses the third call",
    async send(events) {
      calls += 1;
      if (calls === 3) throw new Error("not now");
      sent.push(...events.map((event) => event.job));
    },
  };
  const marked = async () => (await db.pool.query("select from belfry.event where published_at is not null")).rowCount;
  const publish = () => publishPage(ports, db.insight, { sink, owner: "one" });
  await publish();
  const ids = await oneRow();
  while (sent.length < many) {
    expect(await marked()).toBe(0);
    await publish();
    // A sink that refused is called again after a wait.
    await db.clock.advance(60_000);
  }
  expect(sent.toSorted()).toEqual(ids);
  expect(await marked()).toBe(1);
});

test("figures that are added up in parts are those of one pass, and count each move once", async () => {
  const { tally, pool, clock } = db;
  const rows = async (text: string) => (await pool.query<Record<string, unknown>>(text)).rows;
  const tables = ["minute", "hour", "kind_total", "usage", "worker"].map((name) => `belfry.${name}`);
  const figures = () => Promise.all(tables.map((name) => rows(`select * from ${name} order by 1, 2, 3, 4`)));
  await clock.set(0);
  await tally.rollUp(1);
  const [reader] = await rows("select upto from belfry.reader where name = 'roll-up'");
  await oneRow();
  await pool.query("update belfry.job set slot_keys = array['lock:a'], due_at = due_at - interval '2 min'");
  const batch = () =>
    tally.countBatches({ kind: "send-mail", lane: "default" }, { processed: 3, succeeded: 2, failed: 1 });
  const ends = ["lost", "lost", null];
  for (const [n, end] of ends.entries()) {
    await batch();
    await pool.query(
      `insert into belfry.event (id, at, from_state, to_state, reason, worker, job_ids, attempts, generations, started_at)
       select belfry.next_event(), belfry.now(), f::belfry.job_state, t::belfry.job_state, reason, 'w', array[id], '{0}', '{1}',
         case when f = 'RUNNING' then array[belfry.now() - interval '10 min'] end
       from (select min(id) as id from belfry.job) one, (values (null, 'QUEUED', null), ('QUEUED', 'RUNNING', null),
         ('RUNNING', 'SUCCESS', null), ('RUNNING', 'RETRY_WAIT', $1), ('RUNNING', 'FAILED', null), ('RUNNING', 'QUEUED', null),
         ('RUNNING', 'CANCELED', null), ('PENDING', 'SKIPPED', 'lock-held')) m (f, t, reason)`,
      [end],
    );
    // It stops before the oldest transaction of the server, which may be another test's.
    await until("the roll-up of all events", async () => {
      await tally.rollUp(10);
      const [sum] = await rows("select sum(created)::int as created from belfry.minute");
      return sum?.["created"] === many + n + 1 ? true : null;
    });
  }
  const inParts = await figures();
  const [minutes, , totals] = inParts;
  expect(minutes).toMatchObject([{ lost: 2, items: 9, items_failed: 3 }]);
  expect(totals).toMatchObject([{ locks_acquired: "3", locks_failed: "3", lost: "2", items_processed: "9" }]);
  await pool.query(`truncate ${tables.join()}`);
  await pool.query("update belfry.reader set upto = $1 where name = 'roll-up'", [reader?.["upto"]]);
  for (const _ of ends) await batch();
  await tally.rollUp(1e6);
  expect(await figures()).toEqual(inParts);
});

test("the totals of a kind count each attempt that failed, also one that is tried again, and its time", async () => {
  await db.tally.rollUp(1);
  const again = { to: "RETRY_WAIT", failures: 1, errorCode: "E1", errorMessage: "later" } as const;
  const held = [await running(db.store), await running(db.store), await running(db.store)];
  const [retried, failed, done] = held.map((job) => settlementOf(job));
  const group = [{ ...retried, ...again }, { ...failed, ...again, to: "FAILED" }, { ...done }] as Settlement[];
  await db.store.settle(group, settleOptions);
  const totals = await until("the roll-up of all ends", async () => {
    await db.tally.rollUp(100);
    const [kind] = await db.insight.run(readKindTotals, {});
    return kind?.attempts.count === 3 ? kind : null;
  });
  expect(totals).toMatchObject({ lost: 0, failed: 1, succeeded: 1, failedAttempts: { count: 2 } });
  expect(totals.failedAttempts.buckets.reduce((sum, count) => sum + count, 0)).toBe(2);
});

test("a settle of many outcomes names the reason and the code of each, by the stream and by the table of events", async () => {
  const outcomes = [
    { reason: "timeout", errorCode: "E1" },
    { reason: "stopped", errorCode: "E1" },
    { reason: "timeout", errorCode: "E2" },
    { reason: "timeout", errorCode: "E1" },
  ];
  const held = [];
  for (const _ of outcomes) held.push(await running(db.store));
  const { cursor } = await readEvents(db.insight, null, 1);
  const failed = { to: "FAILED", failures: 1, errorMessage: "it broke" } as const;
  const settlements = held.map((job, n) => settlementOf(job, { ...failed, ...outcomes[n] }));
  expect((await db.store.settle(settlements, settleOptions)).settled).toHaveLength(4);
  const { events } = await readOn(db.insight, cursor, 100);
  const reasons = new Map(events.map(({ job, reason }) => [job, reason]));
  expect(held.map(({ jobId }) => reasons.get(jobId))).toEqual(outcomes.map(({ reason }) => reason));
  const { rows } = await db.pool.query<{ reason: string; errorCode: string }>(
    `select reason, error_code as "errorCode" from belfry.move where to_state = 'FAILED' order by job_id`,
  );
  expect(rows).toEqual(outcomes);
});

test("a rescue names the worker that each job was lost with, by the stream and by the table of events", async () => {
  const lostWith = new Map<string, string>();
  for (const worker of ["b", "a"]) {
    for (const alone of [true, false]) {
      for (const maxAttempts of [1, 4]) {
        const { jobId } = await running(db.store, { maxAttempts }, { worker, alone });
        lostWith.set(jobId, worker);
      }
    }
  }
  const { cursor } = await readEvents(db.insight, null, 1);
  await db.clock.advance(60_000);
  const { rows } = await db.store.rescue({ limit: 100, interruptionsMax: 20 });
  expect(rows.map(({ jobId }) => jobId).toSorted()).toEqual([...lostWith.keys()].toSorted());
  const { events } = await readOn(db.insight, cursor, 100);
  const ends = events.filter(({ from }) => from === "RUNNING");
  expect(new Map(ends.map(({ job, worker }) => [job, worker]))).toEqual(lostWith);
  const moved = (id: string) => events.filter(({ job }) => job === id).map(({ from, to }) => `${from} > ${to}`);
  const [soloLast, solo, together] = [...lostWith.keys()];
  expect([soloLast, solo, together].map((id) => moved(id ?? ""))).toEqual([
    ["RUNNING > FAILED"],
    ["RUNNING > RETRY_WAIT", "RETRY_WAIT > QUEUED"],
    ["RUNNING > QUEUED"],
  ]);
});

test("a resume names why it skips each task again, by the stream", async () => {
  const { store } = db;
  const roots = [aTask("asks", [], { hasCondition: true }), aTask("bad")];
  const bench = await workbench(store, { tasks: [...roots, aTask("behind", [0]), aTask("close", [1])] });
  await bench.end("bad", failed);
  const [asks, , ...ids] = (await store.tasks(bench.runId)).map(({ jobId }) => jobId);
  await store.skip([await messageFor(store, asks as JobId)], { reason: "not taken" });
  await bench.resolve();
  const { cursor } = await readEvents(db.insight, null, 1);
  await store.resumeRun(bench.runId, { ids });
  const { events } = await readOn(db.insight, cursor, 100);
  const skipped = new Map(events.flatMap(({ job, to, reason }) => (to === "SKIPPED" ? [[job, reason]] : [])));
  expect(ids.map((id) => skipped.get(id))).toEqual(["not taken", "upstream"]);
});
