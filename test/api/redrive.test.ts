import { expect, test, vi } from "vitest";
import type { BulkReply } from "../../src/api/shape/bulk.ts";
import { runBulkPage } from "../../src/insight/run-bulk.ts";
import type { FailureGroupListReply } from "../../src/insight/failure-groups.ts";
import type { JobId } from "../../src/machine/job.ts";
import { claimOne, settleOne } from "../contract/store/fixture.ts";
import { openApi } from "./harness.ts";

type Opened = Awaited<ReturnType<typeof openApi>>;

/** Jobs that FAILED alike, the oldest first. */
async function plantFailed({ pool }: Opened, count: number, code: string): Promise<readonly JobId[]> {
  const { rows } = await pool.query<{ id: JobId }>(
    `insert into belfry.job (kind, payload, lane, state, event_id, due_at, generation, attempt, failures, max_attempts,
       lease_ms, retention_ms, trace, worker, started_at, dispatched_at, finished_at, created_at, error_code, error_message)
     select 'ping', 'null', 'default', 'FAILED', 0, belfry.now(), 1, 1, 1, 4, 20000, 2592000000, 't', 'w', belfry.now(),
       belfry.now(), belfry.now(), belfry.now(), $2, 'attempt ' || g || ' broke' from generate_series(1, $1) g returning id`,
    [count, code],
  );
  return rows.map(({ id }) => id);
}

async function groupsOf(opened: Opened): Promise<FailureGroupListReply["groups"]> {
  return ((await opened.call("GET", "/dead-letters")).body as unknown as FailureGroupListReply).groups;
}

async function redrive(opened: Opened, body: object): Promise<BulkReply> {
  const { status, body: answer } = await opened.call("POST", "/dead-letters/redrive", body);
  expect(status).toBe(202);
  return answer as unknown as BulkReply;
}

const read = async (opened: Opened, { id }: BulkReply): Promise<BulkReply> =>
  (await opened.call("GET", `/bulk/${id}`)).body as unknown as BulkReply;

/** The answer's process goes on by itself: waits until it has come this far. */
const reaches = (opened: Opened, bulk: BulkReply, expected: object): Promise<void> =>
  vi.waitFor(async () => expect(await read(opened, bulk)).toMatchObject(expected), { timeout: 20_000, interval: 20 });

/** As the scheduler's pass goes on, until nothing can be done now. @returns how many pages that were. */
async function pass({ options }: Opened): Promise<number> {
  for (let pages = 0; ; pages += 1) {
    if (!(await runBulkPage(options, { owner: "pass", stage: "dev" }))) return pages;
  }
}

async function counted({ pool }: Opened, of: string): Promise<Readonly<Record<string, number>>> {
  const { rows } = await pool.query<{ name: string; n: number }>(
    `select ${of} as name, count(*)::int as n from belfry.job group by 1 order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}

test("a group shows its newest jobs, each with its own message", async () => {
  const opened = await openApi();
  const ids = await plantFailed(opened, 5, "BROKEN");
  const [group, ...others] = await groupsOf(opened);
  expect(others).toEqual([]);
  expect(group).toMatchObject({ jobs: 5, newest: ids[4], errorMessage: "attempt 5 broke" });
  expect(group?.samples.map(({ job, message }) => [job, message])).toEqual([
    [ids[4], "attempt 5 broke"],
    [ids[3], "attempt 4 broke"],
    [ids[2], "attempt 3 broke"],
  ]);
});

test("several groups are redriven at once, and no other", async () => {
  const opened = await openApi();
  for (const code of ["A", "B", "C"]) await plantFailed(opened, 2, code);
  const groups = (await groupsOf(opened)).filter(({ errorCode }) => errorCode !== "B");
  const fingerprint = groups.map((each) => each.fingerprint);
  const begun = await redrive(opened, { filter: { fingerprint } });
  expect(begun).toMatchObject({ matched: { count: 4 }, canary: null });
  await reaches(opened, begun, { state: "DONE", changed: 4 });
  expect(await counted(opened, "state || coalesce(error_code, '')")).toEqual({ FAILEDB: 2, QUEUED: 4 });
});

test("a canary of each group goes first and alone, and the rest follows when all of them have succeeded", async () => {
  const opened = await openApi();
  const newest = [(await plantFailed(opened, 3, "A"))[2], (await plantFailed(opened, 4, "B"))[3]];
  const fingerprint = (await groupsOf(opened)).map((each) => each.fingerprint);
  const begun = await redrive(opened, { filter: { fingerprint }, canary: true });
  await reaches(opened, begun, { state: "RUNNING", changed: 2, canary: { state: "out" } });
  const { canary } = await read(opened, begun);
  expect(new Set(canary?.jobs)).toEqual(new Set(newest));
  expect(await pass(opened)).toBe(0);
  const [first, second] = canary?.jobs ?? [];
  await settleOne(opened.store, await claimOne(opened.store, first as JobId));
  expect(await pass(opened)).toBe(0);
  expect(await counted(opened, "state::text")).toEqual({ FAILED: 5, QUEUED: 1, SUCCESS: 1 });
  await settleOne(opened.store, await claimOne(opened.store, second as JobId));
  expect(await pass(opened)).toBeGreaterThan(0);
  expect(await read(opened, begun)).toMatchObject({ state: "DONE", changed: 7, canary: { state: "passed" } });
  expect(await counted(opened, "state::text")).toEqual({ QUEUED: 5, SUCCESS: 2 });
});

test("a canary that fails again stops the redrive; the rest stays as it was", async () => {
  const opened = await openApi();
  const ids = await plantFailed(opened, 4, "A");
  const begun = await redrive(opened, { filter: { kind: "ping" }, canary: true });
  await reaches(opened, begun, { canary: { state: "out", jobs: [ids[3]] } });
  const held = await claimOne(opened.store, ids[3] as JobId);
  await settleOne(opened.store, held, { to: "FAILED", failures: 1, errorCode: "A", errorMessage: "again" });
  expect(await pass(opened)).toBe(0);
  expect(await read(opened, begun)).toMatchObject({ state: "STOPPED", changed: 1, canary: { state: "failed" } });
  expect(await counted(opened, "state::text")).toEqual({ FAILED: 4 });
});

test("a canary that waits does not keep a later change from its turn", async () => {
  const opened = await openApi();
  await plantFailed(opened, 2, "A");
  const waiting = await redrive(opened, { filter: { error: "A" }, canary: true });
  await reaches(opened, waiting, { canary: { state: "out" } });
  await plantFailed(opened, 2, "B");
  const later = await redrive(opened, { filter: { error: "B" } });
  await reaches(opened, later, { state: "DONE", changed: 2 });
  expect(await read(opened, waiting)).toMatchObject({ state: "RUNNING", changed: 1 });
});

test("a pace is kept over all pages, and little is written ahead, so that a stop leaves the rest as it was", async () => {
  const opened = await openApi();
  await plantFailed(opened, 10, "A");
  const begun = await redrive(opened, { filter: { kind: "ping" }, pace: "30s" });
  await reaches(opened, begun, { changed: 4, state: "RUNNING" });
  const minutes = "(extract(epoch from due_at - belfry.now()) / 60)::text";
  const due = async () =>
    Object.keys(await counted(opened, `case when state = 'FAILED' then 'FAILED' else ${minutes} end`)).filter(
      (each) => each !== "FAILED",
    );
  expect((await due()).map(Number)).toEqual([0, 0.5, 1, 1.5]);
  expect(await pass(opened)).toBe(0);
  await opened.advance(120_000);
  expect(await pass(opened)).toBeGreaterThan(0);
  expect(await read(opened, begun)).toMatchObject({ changed: 8 });
  await plantFailed(opened, 10, "B");
  const stopped = await redrive(opened, { filter: { error: "B" }, pace: "30s" });
  await reaches(opened, stopped, { changed: 4 });
  expect(await opened.call("POST", `/bulk/${stopped.id}/stop`)).toMatchObject({ body: { state: "STOPPED" } });
  await opened.advance(600_000);
  await pass(opened);
  expect((await read(opened, stopped)).changed).toBe(4);
});
