import { expect, onTestFinished, test, vi } from "vitest";
import { insightLimits } from "../../src/insight/insight-limits.ts";
import { openApi, startOfTime } from "./harness.ts";
import { plantJobs } from "../support/plant-jobs.ts";
import { eachTest } from "../support/each-test.ts";

const opened = eachTest(() => openApi());
const { pool } = opened;

const { outRowsMax, placeCountedMax, runningCountedMax } = insightLimits;

/** So many jobs whose messages are out, the first one sent first and due last. */
const queue = (jobs: number): Promise<unknown> =>
  plantJobs(pool, "QUEUED", jobs, {
    due_at: "belfry.now() - n * interval '1 ms'",
    dispatched_at: `belfry.now() - (${jobs} - n) * interval '1 ms'`,
  });

/** Ten under each lease. */
async function run(jobs: number): Promise<void> {
  const lease_id = `${jobs} * 1000 + (n + 9) / 10`;
  await plantJobs(pool, "RUNNING", jobs, { lease_id, dispatched_at: "belfry.now() - interval '1 hour'" });
  await pool.query(`insert into belfry.lease (id, worker, lane, ms, until, job_ids) overriding system value
    select lease_id, 'w', 'default', 20000, belfry.now() + interval '1 hour', array_agg(id) from belfry.job
    where state = 'RUNNING' and lease_id not in (select id from belfry.lease) group by lease_id`);
}

test("a list by due time says when more is out than it looks at, on each page", async () => {
  await queue(outRowsMax - 1);
  const first = await opened.call("GET", "/jobs?state=QUEUED&sort=due&limit=2");
  expect(first.body).toMatchObject({ complete: true });
  await queue(2);
  const cut = await opened.call("GET", "/jobs?state=QUEUED&sort=due&limit=2");
  expect(cut.body).toMatchObject({ complete: false });
  const waiting = await opened.call("GET", "/jobs?state=PENDING,RETRY_WAIT&sort=due&limit=2");
  expect(waiting.body).toMatchObject({ jobs: [], nextCursor: null, complete: true });
});

test("a list by due time whose page is full with the first row of a look goes on with that row", async () => {
  // A search looks no longer than its time: here it takes none.
  const watch = vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => watch.mockRestore());
  const wait = (kind: string, jobs: number): Promise<unknown> =>
    plantJobs(opened.pool, "PENDING", jobs, { kind: `'${kind}'`, due_at: `belfry.at(${startOfTime + 3_600_000})` });
  await wait("greet", 1);
  await wait("ping", insightLimits.searchRowsMax);
  await wait("greet", 2);
  const read = async (cursor: unknown): Promise<readonly string[]> => {
    const { body } = await opened.call("GET", `/jobs?kind=greet&sort=due&limit=1&cursor=${String(cursor)}`);
    const { jobs, nextCursor } = body as unknown as { jobs: { id: string }[]; nextCursor: string | null };
    return [...jobs.map(({ id }) => id), ...(nextCursor === null ? [] : await read(nextCursor))];
  };
  const { body } = await opened.call("GET", "/jobs?kind=greet&sort=due&limit=1");
  const { jobs, nextCursor } = body as unknown as { jobs: { id: string }[]; nextCursor: string };
  expect([...jobs.map(({ id }) => id), ...(await read(nextCursor))]).toHaveLength(3);
});

test("a list of failures that looked at the newest, or shows the largest groups, says that there may be more", async () => {
  const { failureRowsMax, failureGroupsMax } = insightLimits;
  const fail = (kind: string, jobs: number, groups = 1): Promise<unknown> =>
    plantJobs(opened.pool, "FAILED", jobs, { kind: `'${kind}'`, error_code: `'E' || n % ${groups}` });
  const failures = async (kind: string) => {
    const { body } = await opened.call("GET", `/dead-letters?kind=${kind}`);
    const { groups, isMore } = body as unknown as { groups: readonly unknown[]; isMore: boolean };
    return [groups.length, isMore];
  };
  expect(await failures("greet")).toEqual([0, false]);
  await fail("greet", failureGroupsMax, failureGroupsMax);
  expect(await failures("greet")).toEqual([failureGroupsMax, false]);
  await fail("greet", failureGroupsMax + 1, failureGroupsMax + 1);
  expect(await failures("greet")).toEqual([failureGroupsMax, true]);
  expect(await failures("ping")).toEqual([0, false]);
  // The newest are all of another kind.
  await fail("ping", failureRowsMax);
  expect(await failures("greet")).toEqual([0, true]);
});

test("an explanation counts what is before a job and what runs in its lane up to a bound, and says so", async () => {
  await queue(placeCountedMax + 2);
  await run(runningCountedMax);
  const newest = async (nth: number): Promise<string> => {
    const { rows } = await opened.pool.query<{ id: string }>(
      "select id from belfry.job where state = 'QUEUED' order by dispatched_at desc offset $1 limit 1",
      [nth],
    );
    const { body } = await opened.call("GET", `/jobs/${rows[0]?.id}/explain`);
    return (body as unknown as { sentence: string }).sentence;
  };
  expect(await newest(1)).toBe(
    `it is queued in lane default behind ${placeCountedMax}; ${runningCountedMax} run there now`,
  );
  await run(1);
  expect(await newest(0)).toBe(
    `it is queued in lane default behind more than ${placeCountedMax}; more than ${runningCountedMax} run there now`,
  );
  expect(await newest(placeCountedMax + 1)).toMatch(/ behind 0; /);
});
