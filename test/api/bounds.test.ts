import { expect, test } from "vitest";
import { operationsLimits } from "../../src/core/ports/operations-limits.ts";
import { openApi } from "./harness.ts";

type Opened = Awaited<ReturnType<typeof openApi>>;

const { outRowsMax, placeCountedMax, runningCountedMax } = operationsLimits;

/** So many jobs whose messages are out, the first one sent first and due last. */
const queue = ({ pool }: Opened, jobs: number): Promise<unknown> =>
  pool.query(
    `insert into belfry.job (kind, payload, payload_hash, lane, state, event_id, generation, max_attempts, lease_ms, retention_ms, trace,
       created_at, due_at, dispatched_at)
     select 'ping', 'null', '\\x00', 'default', 'QUEUED', 0, 1, 4, 20000, 2592000000, 't', belfry.now(),
       belfry.now() - n * interval '1 ms', belfry.now() - ($1 - n) * interval '1 ms'
     from generate_series(1, $1::int) n`,
    [jobs],
  );

const run = ({ pool }: Opened, jobs: number): Promise<unknown> =>
  pool.query(
    `with jobs as (
       insert into belfry.job (kind, payload, payload_hash, lane, state, event_id, generation, max_attempts, lease_ms, retention_ms, trace,
         created_at, due_at, dispatched_at, attempt, worker, started_at, lease_id)
       select 'ping', 'null', '\\x00', 'default', 'RUNNING', 0, 1, 4, 20000, 2592000000, 't', t, t, t - interval '1 hour', 1, 'w', t,
         $1 * 1000 + (n + 9) / 10
       from generate_series(1, $1::int) n cross join lateral (select belfry.now()) as at (t) returning id, lease_id
     ) insert into belfry.lease (id, worker, lane, ms, until, job_ids) overriding system value
     select lease_id, 'w', 'default', 20000, belfry.now() + interval '1 hour', array_agg(id) from jobs group by lease_id`,
    [jobs],
  );

test("a list by due time says when more is out than it looks at, on each page", async () => {
  const opened = await openApi();
  await queue(opened, outRowsMax - 1);
  const first = await opened.call("GET", "/jobs?state=QUEUED&sort=due&limit=2");
  expect(first.body).toMatchObject({ complete: true });
  await queue(opened, 2);
  const cut = await opened.call("GET", "/jobs?state=QUEUED&sort=due&limit=2");
  expect(cut.body).toMatchObject({ complete: false });
  const waiting = await opened.call("GET", "/jobs?state=PENDING,RETRY_WAIT&sort=due&limit=2");
  expect(waiting.body).toMatchObject({ jobs: [], nextCursor: null, complete: true });
});

test("an explanation counts what is before a job and what runs in its lane up to a bound, and says so", async () => {
  const opened = await openApi();
  await queue(opened, placeCountedMax + 2);
  await run(opened, runningCountedMax);
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
  await run(opened, 1);
  expect(await newest(0)).toBe(
    `it is queued in lane default behind more than ${placeCountedMax}; more than ${runningCountedMax} run there now`,
  );
  expect(await newest(placeCountedMax + 1)).toMatch(/ behind 0; /);
});
