import { expect, test } from "vitest";
import { jobSearch, type JobSearch } from "../../src/insight/search.ts";
import { testDatabase } from "../support/database.ts";
import { countMatching } from "../../src/insight/find-jobs.ts";
import { readRuns } from "../../src/insight/runs.ts";

const start = Date.parse("2026-02-28T23:00:00Z");

/** Two jobs as a restore writes them: the table's checks hold, its triggers do not fire. */
const twoJobs = `set session_replication_role = replica;
insert into belfry.job (id, kind, key, lane, payload, state, event_id, due_at, max_attempts, lease_ms, retention_ms, trace,
  created_at, finished_at, error_code, error_message, run_id, task, schedule_id, worker, not_taken, hold, held_on, started_at, attempt)
overriding system value values
  (1, 'pay', 'blue', 'night', '{"user": {"name": "ada"}}', 'FAILED', 1, belfry.at(${start + 1}), 4, 20000, 60000, 't', belfry.at(${start + 1}), belfry.at(${start + 5}), 'E_ONE',
    'went wrong', 7, 'charge', 'daily', 'w-1', false, 'none', '', belfry.at(${start + 3}), 2),
  (2, 'mail', null, 'default', '{}', 'PENDING', 2, belfry.at(${start + 2}), 4, 20000, 60000, 't', belfry.at(${start + 2}), null, null, null, null, null, null,
    null, true, 'paused', 'lane:default', null, 0);
insert into belfry.sensitive (kind, marks) values ('pay', '{}');
reset session_replication_role`;

/** For each field a value that one of two jobs has. */
const narrow = (fingerprint: string): Required<JobSearch> => ({
  id: "1",
  words: ["PA", "one"],
  states: ["FAILED"],
  kind: "pay",
  kinds: ["pay", "other"],
  lane: "night",
  key: "blue",
  errorCode: "E_ONE",
  fingerprints: [fingerprint],
  runId: "7",
  taken: true,
  scheduleId: "daily",
  worker: "w-1",
  dueFrom: start + 2,
  dueTo: start + 2,
  createdFrom: start + 2,
  createdTo: start + 2,
  endedFrom: start + 5,
  endedTo: start + 6,
  tookFrom: 2,
  tookTo: 2,
  attemptFrom: 1,
  attemptTo: 0,
  held: true,
  payload: [{ path: ["user", "name"], value: "ada" }],
});

test("each field of a search narrows by itself", async () => {
  const db = await testDatabase();
  await db.pool.query(twoJobs);
  const prints = await db.pool.query<{ of: string }>(
    "select belfry.fingerprint(kind, error_code, error_message) as of from belfry.job where id = 1",
  );
  expect(await countMatching(db.insight, {}, 10)).toEqual({ count: 2, isMore: false });
  const values: Readonly<Record<string, unknown>> = narrow(prints.rows[0]?.of ?? "");
  const counts = Object.keys(jobSearch.unwrap().shape).map(
    async (field) => [field, (await countMatching(db.insight, { [field]: values[field] }, 10)).count] as const,
  );
  expect((await Promise.all(counts)).filter(([, count]) => count !== 1)).toEqual([]);
});

test("runs of a time are those created in it, among ids with gaps that are moments out of order", async () => {
  const db = await testDatabase();
  await db.pool.query(`insert into belfry.run (id, kind, key, version, state, created_at) overriding system value
    select n * 7, 'kept', n, 1, 'RUNNING', belfry.at(${start}) + (n * 10 + n * 37 % 5 * 14) * interval '1 second' from generate_series(1, 2000) n`);
  const read = async (createdFrom: number | undefined, createdTo: number | undefined) =>
    (await db.insight.run(readRuns, { createdFrom, createdTo, limit: 3_000 })).map(({ id }) => id);
  const { rows } = await db.pool.query<{ id: string; ms: number }>(
    "select id::text, extract(epoch from created_at)::float8 * 1000 as ms from belfry.run order by run.id desc",
  );
  for (const from of [undefined, start, start + 5_003_000, start + 19_990_000, start + 30_000_000])
    for (const to of [undefined, start, start + 5_063_000, start + 20_000_000]) {
      const inside = rows.filter(({ ms }) => ms >= (from ?? 0) && ms < (to ?? Infinity));
      expect(await read(from, to)).toEqual(inside.map(({ id }) => id));
    }
});
