import { expect, test } from "vitest";
import { leaveRuns } from "../../src/postgres/sql/archive.ts";
import { renewLeases } from "../../src/postgres/sql/lease.ts";
import { addUpRuns } from "../../src/postgres/sql/resolve.ts";
import { execute, type Statement } from "../../src/postgres/statement.ts";
import { insertMany, messageFor, running, settleOne, settleOptions, settleAll } from "../contract/store/fixture.ts";
import { aTask, failed, workbench } from "../contract/store/run-fixture.ts";
import { testDatabase, otherSession } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";
import { untilWaiting } from "./race.ts";

const db = eachTest(() => testDatabase({ connections: 4 }));
const { store, pool } = db;

/**
 * Runs a statement that stops where it has taken its snapshot and reads the rows of this condition, which it does not yet lock.
 * `change` is committed before it goes on.
 */
async function changedUnder<R>(
  statement: Statement<R>,
  { condition, values, change }: { readonly condition: string; readonly values: unknown[]; readonly change: string },
): Promise<readonly R[]> {
  if (!statement.text.includes(condition)) throw new Error(`the statement has no condition ${condition}`);
  const holder = await otherSession(pool);
  await holder.query("select pg_advisory_xact_lock(1)");
  const text = statement.text.replace(condition, `${condition} and pg_advisory_xact_lock_shared(1) is not null`);
  const answering = execute(pool, { ...statement, text }, values);
  await untilWaiting(db);
  await holder.query(change);
  await holder.query("commit");
  return await answering;
}

const aRun = "insert into belfry.run (kind, key, version, state, created_at, sealed, finished_at)";

test("a run that its starter opens again after the snapshot of its closing stays open", async () => {
  const { rows } = await pool.query(`${aRun} values ('k', 'a', 1, 'RUNNING', belfry.now(), true, null) returning id`);
  const id = String((rows as { id: string }[])[0]?.id);
  const delta = () => pool.query("insert into belfry.run_delta (run_id) values ($1)", [id]);
  await delta();
  const found = { condition: "state in ('RUNNING', 'CANCELING')", values: [[id]] };
  const change = `update belfry.run set sealed = false where id = ${id}`;
  expect(await changedUnder(addUpRuns, { ...found, change })).toEqual([
    { id, kind: "k", state: "RUNNING", lane: null },
  ]);
  await pool.query("update belfry.run set sealed = true where id = $1", [id]);
  await delta();
  const other = "update belfry.run set trace = 'other'";
  expect(await changedUnder(addUpRuns, { ...found, change: other })).toEqual([
    { id, kind: "k", state: "DONE", lane: null },
  ]);
});

test("a heartbeat writes no progress of an attempt whose job another lease has taken since its snapshot", async () => {
  const { jobId, attempt } = await running(store);
  const progress = async (): Promise<unknown> => {
    const { rows } = await pool.query("select progress from belfry.job where id = $1", [jobId]);
    return (rows as { progress: unknown }[])[0]?.progress;
  };
  const { rows } = await pool.query("select worker from belfry.job where id = $1", [jobId]);
  const worker = (rows as { worker: string }[])[0]?.worker;
  const beat = (share: number, change: string) =>
    changedUnder(renewLeases, {
      condition: "j.progress is distinct from h.progress",
      values: [[jobId], [attempt], [share], worker],
      change,
    });
  await beat(0.25, `update belfry.job set lane = 'other' where id = ${jobId}`);
  expect(await progress()).toBe(0.25);
  await beat(0.5, `update belfry.job set lease_id = lease_id + 1 where id = ${jobId}`);
  expect(await progress()).toBe(0.25);
});

test("what leaves for the archive locks the runs of its own jobs and no others", async () => {
  const { rows } = await pool.query(
    `${aRun} select 'k', n::text, 1, 'DONE', belfry.now(), true, belfry.now() from generate_series(1, 3) n returning id`,
  );
  const ids = (rows as { id: string }[]).map(({ id }) => id);
  const { rows: jobs } = await pool.query(
    `update belfry.job j set run_id = w.run from unnest($1::bigint[], $2::bigint[]) as w (job, run) where j.id = w.job
     returning j.id, j.run_id as run, j.xmin::text as version`,
    [await insertMany(store, [{}, {}, {}]), ids],
  );
  const [first] = ids;
  const job = (jobs as { id: string; run: string; version: string }[]).find(({ run }) => run === first);
  const holder = await otherSession(pool);
  const gone = await execute(holder, leaveRuns, [[job?.id], [job?.version], [ids[1]], ["1"]]);
  expect(gone).toEqual([{ gone: 1 }]);
  const free = await pool.query("select id from belfry.run order by id for update skip locked");
  expect((free.rows as { id: string }[]).map(({ id }) => id)).toEqual([ids[2]]);
});

test("a resume counts an end once that no process had added up", async () => {
  const bench = await workbench(store, { tasks: [aTask("a"), aTask("b")] });
  const first = await bench.claim("a");
  if (first === null) throw new Error("the first task has a message");
  await settleOne(store, first, failed);
  await store.resumeRun(bench.runId, {});
  bench.take(await store.relay({ limit: 10 }));
  await bench.end("a");
  expect(await store.run(bench.runId)).toMatchObject({ state: "RUNNING", total: 2, done: 1, ok: 1, failed: 0 });
  await bench.end("b");
  expect(await store.run(bench.runId)).toMatchObject({ state: "DONE", done: 2, ok: 2, failed: 0 });
});

test("a claim and a settle that wait for a row's change write one lease, and name the event that they write", async () => {
  const ids = await insertMany(store, [{}, {}, {}]);
  const messages = await Promise.all(ids.map((id) => messageFor(store, id)));
  const claimed = await behindAChange(ids[1], () => store.claim(messages, { ...settleOptions, alone: false }));
  const started =
    "select distinct j.lease_id, j.event_id = e.id as named from belfry.job j, belfry.event e where e.to_state = j.state";
  const leases = "select array_agg(id)::text[] as ids from belfry.lease";
  const [[row, ...more], [lease]] = [(await pool.query(started)).rows, (await pool.query(leases)).rows];
  expect({ row, more, lease }).toEqual({
    row: { lease_id: lease.ids[0], named: true },
    more: [],
    lease: { ids: [expect.any(String)] },
  });
  await behindAChange(ids[1], () => settleAll(store, claimed.claimed));
  expect((await pool.query(started)).rows).toEqual([{ lease_id: null, named: true }]);
});

/** Another session has changed the row when the work begins, and commits once that waits for it. */
async function behindAChange<T>(id: string | undefined, work: () => Promise<T>): Promise<T> {
  const holder = await otherSession(pool);
  await holder.query("update belfry.job set trace = trace || '.' where id = $1", [id]);
  const answer = work();
  await untilWaiting(db);
  await holder.query("commit");
  return await answer;
}
