import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createArchiveSource } from "../../src/postgres/archive-source.ts";
import { archiveLag, readArchive } from "../../src/insight/archived.ts";
import { createPostgresStore } from "../../src/postgres/store.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import {
  type ArchiveBatch,
  archiveLimits,
  type ArchivePart,
  archiveParts,
  type ArchiveSource,
} from "../../src/insight/archive.ts";
import { failure, insertOne, running, settleOne } from "../contract/store/fixture.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";

const day = 86_400_000;
const written = { objects: 1, bytes: 10 };

describe("what is past its retention leaves for the archive", () => {
  let db: TestDatabase;
  let source: ArchiveSource;
  beforeEach(async () => {
    db = await freshDatabase({ own: true });
    source = createArchiveSource(db.connections);
  });
  afterEach(() => db.close());

  const ids = async (table: string, id = "id"): Promise<readonly string[]> =>
    (await db.pool.query<{ id: string }>(`select ${id}::text as id from belfry.${table} order by 1`)).rows.map(
      (row) => row.id,
    );
  const batch = async (part: ArchivePart): Promise<ArchiveBatch> => {
    const found = await source.next(part);
    if (found === null) throw new Error(`no ${part} wait for the archive`);
    return found;
  };
  const parsed = (found: ArchiveBatch) => found.rows.map(({ line }) => JSON.parse(line) as Record<string, unknown>);
  const done = async (retentionMs = 7 * day): Promise<string> => {
    const held = await running(db.store, { retentionMs });
    await settleOne(db.store, held);
    return held.jobId;
  };
  const pastRetention = () => db.clock.advance(7 * day + archiveLimits.rowsWaitMs + 1_000);

  test("a job is one line with its payload, result, times in UTC and its history, and goes once that is written", async () => {
    const held = await running(db.store, { retentionMs: 7 * day, payload: { name: "Ada" } });
    await settleOne(db.store, held, { ...failure, to: "FAILED" });
    const kept = await done(60 * day);
    await pastRetention();
    const found = await batch("jobs");
    expect(parsed(found)).toMatchObject([
      {
        id: held.jobId,
        state: "FAILED",
        payload: { name: "Ada" },
        run_id: null,
        finished_at: expect.stringMatching(/\+00:00$/) as string,
        history: [{ to_state: "FAILED", attempt: 1 }],
      },
    ]);
    expect(await ids("job")).toEqual([held.jobId, kept]);
    expect(await source.leave(found, written)).toBe(true);
    expect(await ids("job")).toEqual([kept]);
    expect(await source.next("jobs")).toBeNull();
  });

  test("a job that was tried again hours later takes the history of each of its attempts along", async () => {
    const held = await running(db.store, { retentionMs: 7 * day });
    await settleOne(db.store, held, { ...failure, delayMs: day / 4 });
    await db.clock.advance(day / 4);
    const [again] = (await db.store.relay({ limit: 1 }))[0]?.messages ?? [];
    if (again === undefined) throw new Error("the job was not dispatched again");
    const { claimed } = await db.store.claim([again], { worker: "worker-1", alone: false });
    for (const each of claimed) await settleOne(db.store, each, { ...failure, to: "FAILED" });
    await pastRetention();
    const history = [
      { to_state: "RETRY_WAIT", attempt: 1 },
      { to_state: "FAILED", attempt: 2 },
    ];
    expect(parsed(await batch("jobs"))).toMatchObject([{ id: held.jobId, history }]);
  });

  test("few jobs wait for more, at most as long as the limit says", async () => {
    await done();
    await db.clock.advance(7 * day + 60_000);
    expect(await source.next("jobs")).toBeNull();
    await db.clock.advance(archiveLimits.rowsWaitMs);
    expect(await source.next("jobs")).not.toBeNull();
  });

  test("a job that changed since it was read stays, and with it the whole batch", async () => {
    const jobs = [await done(), await done()];
    await pastRetention();
    const found = await batch("jobs");
    await db.pool.query("update belfry.job set trace = 'changed' where id = $1", [jobs[1]]);
    expect(await source.leave(found, written)).toBe(false);
    expect(await ids("job")).toEqual(jobs);
    expect(await ids("archive", "part")).toEqual([]);
    expect(await source.leave(await batch("jobs"), written)).toBe(true);
    expect(await ids("job")).toEqual([]);
  });

  test("of two processes with the same batch one deletes and counts it", async () => {
    await done();
    await pastRetention();
    const found = await batch("jobs");
    const left = await Promise.all([source.leave(found, written), source.leave(found, written)]);
    expect(left.toSorted()).toEqual([false, true]);
    const { rows } = await db.pool.query("select part, objects::int, rows::int, bytes::int from belfry.archive");
    expect(rows).toEqual([{ part: "jobs", objects: 1, rows: 1, bytes: 10 }]);
  });

  test("the jobs of a run leave with their edges, and the run with the last of them", async () => {
    await db.pool
      .query(`insert into belfry.run (kind, key, version, state, created_at, finished_at, retention_ms, sealed)
      values ('g', 'k', 1, 'DONE', belfry.now(), belfry.now(), ${7 * day}, true)`);
    const [first, second] = [await done(), await done()];
    await db.pool.query("update belfry.job set run_id = 1, end_counted = true");
    await db.pool.query("insert into belfry.edge (from_id, to_id, run_id) values ($1, $2, 1)", [first, second]);
    await pastRetention();
    const found = await batch("runs");
    expect(found.rows.map(({ table, number }) => [table, number])).toEqual([
      ["job", first],
      ["job", second],
      ["run", "1"],
    ]);
    expect(parsed(found)[1]).toMatchObject({ id: second, run_id: "1", after: [first] });
    expect(await source.leave(found, written)).toBe(true);
    expect([await ids("job"), await ids("run"), await ids("edge", "to_id")]).toEqual([[], [], []]);
  });

  test("the audit and decided occurrences leave row by row", async () => {
    await db.pool.query(`insert into belfry.audit (at, caller, action, target, status, detail, trace)
      values (belfry.now(), 'ada', 'POST /jobs', '/jobs', 201, '{}', 't')`);
    await db.pool.query(`insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome,
        schedule_version, planned_at, decided_at)
      values ('s', '2026-01-01T08:00', 0, 'Asia/Seoul', belfry.now(), 'FIRED', 1, belfry.now(), belfry.now())`);
    expect([await source.next("audit"), await source.next("occurrences")]).toEqual([null, null]);
    await db.clock.advance(401 * day);
    const [audit, occurrences] = [await batch("audit"), await batch("occurrences")];
    expect(parsed(audit)).toMatchObject([{ caller: "ada", id: "1" }]);
    expect(parsed(occurrences)).toMatchObject([{ schedule_id: "s", timezone: "Asia/Seoul", outcome: "FIRED" }]);
    expect([await source.leave(audit, written), await source.leave(occurrences, written)]).toEqual([true, true]);
    expect([await ids("audit"), await ids("occurrence", "schedule_id")]).toEqual([[], []]);
  });

  test("a day of events and of history is dropped when each of its pages is written", async () => {
    const held = await running(db.store);
    await settleOne(db.store, held, { ...failure, to: "FAILED" });
    await db.clock.advance(contractLimits.historyMs + 2 * day);
    const events = await ids("event");
    const drained = async (part: ArchivePart): Promise<readonly Record<string, unknown>[]> => {
      const found = await source.next(part);
      if (found === null) return [];
      expect(await source.leave(found, written)).toBe(true);
      // A process that comes later with the same page changes nothing.
      expect(found.rows.length > 0 && (await source.leave(found, written))).toBe(false);
      return [...parsed(found), ...(await drained(part))];
    };
    expect((await drained("events")).map(({ id }) => id)).toEqual(events);
    expect(await drained("history")).toMatchObject([{ job_id: held.jobId, to_state: "FAILED" }]);
    expect([await ids("event"), await ids("history")]).toEqual([[], []]);
  });

  test("of several days past their retention the oldest goes first", async () => {
    const first = await done();
    await db.clock.advance(2 * day);
    await done();
    await db.clock.advance(contractLimits.historyMs + 2 * day);
    // A day without rows is dropped as it is met.
    let found = await batch("events");
    for (; found.rows.length === 0; found = await batch("events")) await source.leave(found, written);
    expect(parsed(found).map((event) => event["job_ids"])).toEqual([[first], [first], [first]]);
  });

  test("rows that had no day leave too", async () => {
    await db.clock.advance(40 * day);
    await insertOne(db.store);
    await db.clock.advance(contractLimits.historyMs + 2 * day);
    for (let found = await source.next("events"); found !== null; found = await source.next("events"))
      await source.leave(found, written);
    expect(await ids("event")).toEqual([]);
  });

  test("with an archive, pruning leaves to it what it takes", async () => {
    const store = createPostgresStore(db.connections, { archives: true });
    await done();
    await db.clock.advance(500 * day);
    const before = await ids("event");
    await store.prune({ limit: 10 });
    expect(await ids("job")).toHaveLength(1);
    expect(await ids("event")).toEqual(before);
  });

  test("the lag of each part is how long its first row past the retention waits", async () => {
    const lags = async () =>
      Object.fromEntries((await db.insight.run(archiveLag, {})).map(({ part, lagMs }) => [part, lagMs]));
    expect(await lags()).toEqual({});
    for (const part of archiveParts) await source.failed(part, "NoSuchBucket");
    await done();
    await done(60 * day);
    await db.pool
      .query(`insert into belfry.run (kind, key, version, state, created_at, finished_at, retention_ms, sealed)
      values ('g', 'k', 1, 'DONE', belfry.now(), belfry.now(), ${8 * day}, true)`);
    await db.pool.query(`insert into belfry.audit (at, caller, action, target, status, detail, trace)
      values (belfry.now() - interval '391 days', 'ada', 'POST /jobs', '/jobs', 201, '{}', 't')`);
    const none = Object.fromEntries(archiveParts.map((part) => [part, 0]));
    expect(await lags()).toEqual(none);
    await db.clock.advance(10 * day);
    const near = (ms: number) => expect.closeTo(ms / day, 2) as number;
    const inDays = async () => Object.fromEntries(Object.entries(await lags()).map(([part, ms]) => [part, ms / day]));
    expect(await inDays()).toEqual({ ...none, jobs: near(3 * day), runs: near(2 * day), audit: near(day) });
    await db.clock.advance(contractLimits.historyMs);
    const { events = 0, history } = await inDays();
    expect(events).toBe(history);
    expect(events).toBeGreaterThan(9);
  });

  test("a failure is noted once with its begin, and forgotten by the next write", async () => {
    await done();
    await pastRetention();
    await source.failed("jobs", "NoSuchBucket");
    const read = async () => (await db.insight.run(readArchive, {})).map(({ failing }) => failing);
    const [begun] = await read();
    expect(begun).toMatchObject({ error: "NoSuchBucket" });
    await db.clock.advance(60_000);
    await source.failed("jobs", "AccessDenied");
    expect(await read()).toEqual([{ since: begun?.since, error: "AccessDenied" }]);
    await source.leave(await batch("jobs"), written);
    expect(await read()).toEqual([null]);
  });
});
