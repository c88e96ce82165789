import { expect, test, vi } from "vitest";
import type { BulkReply } from "../../src/api/shape/bulk.ts";
import { beginBulk } from "../../src/insight/bulk.ts";
import { insightLimits } from "../../src/insight/insight-limits.ts";
import { runBulkPage } from "../../src/insight/run-bulk.ts";
import type { FailureGroupListReply } from "../../src/insight/failure-groups.ts";
import type { JobId } from "../../src/machine/job.ts";
import { claimOne, settleOne } from "../contract/store/fixture.ts";
import { openApi } from "./harness.ts";
import { plantJobs } from "../support/plant-jobs.ts";
import { eachTest } from "../support/each-test.ts";

const opened = eachTest(() => openApi());
const { pool } = opened;

/** Jobs that FAILED alike, the oldest first. */
const plantFailed = (count: number, code: string): Promise<readonly JobId[]> =>
  plantJobs(pool, "FAILED", count, { error_code: `'${code}'`, error_message: "'attempt ' || n || ' broke'" });

async function groupsOf(): Promise<FailureGroupListReply["groups"]> {
  return ((await opened.call("GET", "/dead-letters")).body as unknown as FailureGroupListReply).groups;
}

async function redrive(body: object): Promise<BulkReply> {
  const { status, body: answer } = await opened.call("POST", "/dead-letters/redrive", body);
  expect(status).toBe(202);
  return answer as unknown as BulkReply;
}

const read = async ({ id }: BulkReply): Promise<BulkReply> =>
  (await opened.call("GET", `/bulk/${id}`)).body as unknown as BulkReply;

/** The answer's process goes on by itself: waits until it has come this far. */
const reaches = (bulk: BulkReply, expected: object): Promise<void> =>
  vi.waitFor(async () => expect(await read(bulk)).toMatchObject(expected), { timeout: 20_000, interval: 20 });

/** As the scheduler's pass goes on, until nothing can be done now. @returns how many pages that were. */
async function pass(): Promise<number> {
  for (let pages = 0; ; pages += 1) {
    if (!(await runBulkPage(opened.options, { owner: "pass" }))) return pages;
  }
}

async function counted(of: string): Promise<Readonly<Record<string, number>>> {
  const { rows } = await pool.query<{ name: string; n: number }>(
    `select ${of} as name, count(*)::int as n from belfry.job group by 1 order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}

test("a group shows its newest jobs, each with its own message", async () => {
  const ids = await plantFailed(5, "BROKEN");
  const [group, ...others] = await groupsOf();
  expect(others).toEqual([]);
  expect(group).toMatchObject({ jobs: 5, newest: ids[4], errorMessage: "attempt 5 broke" });
  expect(group?.samples.map(({ job, message }) => [job, message])).toEqual([
    [ids[4], "attempt 5 broke"],
    [ids[3], "attempt 4 broke"],
    [ids[2], "attempt 3 broke"],
  ]);
});

test("several groups are redriven at once, and no other", async () => {
  for (const code of ["A", "B", "C"]) await plantFailed(2, code);
  const groups = (await groupsOf()).filter(({ errorCode }) => errorCode !== "B");
  const fingerprint = groups.map((each) => each.fingerprint);
  const begun = await redrive({ filter: { fingerprint } });
  expect(begun).toMatchObject({ matched: { count: 4 }, steps: null });
  await reaches(begun, { state: "DONE", changed: 4 });
  expect(await counted("state || coalesce(error_code, '')")).toEqual({ FAILEDB: 2, QUEUED: 4 });
});

test("a dry run names its steps; a kind or a group that has no such job is refused by its name", async () => {
  await plantFailed(11, "A");
  const dry = async (filter: object) =>
    (await opened.call("POST", "/dead-letters/redrive", { filter, dryRun: true })).body;
  expect(await dry({ kind: "ping" })).toEqual({ dryRun: true, matched: { count: 11, isMore: false }, steps: [1, 10] });
  expect(await dry({ kind: "nope" })).toMatchObject({
    code: "unknown-kind",
    detail: expect.stringContaining('"nope"') as string,
  });
  const fingerprint = [(await groupsOf())[0]?.fingerprint ?? "", "zzz"];
  expect(await dry({ fingerprint })).toMatchObject({
    code: "unknown-group",
    detail: 'filter.fingerprint: no job that matches is in group "zzz"',
  });
});

test("one job of each group goes first and alone, and the rest follows when all of them have succeeded", async () => {
  const newest = [(await plantFailed(3, "A"))[2], (await plantFailed(4, "B"))[3]];
  const fingerprint = (await groupsOf()).map((each) => each.fingerprint);
  const begun = await redrive({ filter: { fingerprint }, steps: "1,all" });
  await reaches(begun, { state: "RUNNING", changed: 2, steps: { state: "out" } });
  const { steps } = await read(begun);
  expect(new Set(steps?.jobs)).toEqual(new Set(newest));
  expect(await pass()).toBe(0);
  const [first, second] = steps?.jobs ?? [];
  await settleOne(opened.store, await claimOne(opened.store, first as JobId));
  expect(await pass()).toBe(0);
  expect(await counted("state::text")).toEqual({ FAILED: 5, QUEUED: 1, SUCCESS: 1 });
  await settleOne(opened.store, await claimOne(opened.store, second as JobId));
  expect(await pass()).toBeGreaterThan(0);
  expect(await read(begun)).toMatchObject({ state: "DONE", changed: 7, steps: { state: "passed" } });
  expect(await counted("state::text")).toEqual({ QUEUED: 5, SUCCESS: 2 });
});

/** Ends a retried job as an attempt does. */
const ends = async (id: JobId | undefined, to: object = {}) =>
  await settleOne(opened.store, await claimOne(opened.store, id as JobId), to);
const again = { failures: 1, errorCode: "A", errorMessage: "attempt 3 broke" } as const;

test("a group of more than ten goes by one, then ten; one of those ten may fail, and is not retried twice", async () => {
  const newest = (await plantFailed(14, "A")).toReversed();
  const begun = await redrive({ filter: { kind: "ping" } });
  await reaches(begun, { changed: 1, steps: { state: "out", sizes: [1, 10], jobs: [newest[0]] } });
  await ends(newest[0]);
  await pass();
  expect(await read(begun)).toMatchObject({ changed: 11, steps: { step: 2, jobs: newest.slice(1, 11) } });
  for (const id of newest.slice(1, 10)) await ends(id);
  await opened.advance(1_000);
  await ends(newest[10], { ...again, to: "FAILED" });
  await pass();
  expect(await read(begun)).toMatchObject({ state: "DONE", changed: 14, stopped: null });
  expect(await counted("state::text")).toEqual({ FAILED: 1, QUEUED: 3, SUCCESS: 10 });
});

test("a group that fails again stops the step, however many others succeed, also where no group is named", async () => {
  const codes = [..."ABCDEFGHIJK"];
  const planted: (readonly JobId[])[] = [];
  for (const code of codes) planted.push(await plantFailed(code === "K" ? 12 : 2, code));
  const begun = await redrive({ filter: { kind: "ping" }, steps: "1,all" });
  await reaches(begun, { changed: 11, steps: { state: "out" } });
  expect(new Set((await read(begun)).steps?.jobs)).toEqual(new Set(planted.map((ids) => ids.at(-1))));
  const [broken, ...repaired] = planted.map((ids) => ids.at(-1));
  for (const id of repaired) await ends(id);
  await ends(broken, { ...again, errorMessage: "attempt 9 broke", to: "FAILED" });
  expect(await pass()).toBe(0);
  expect(await read(begun)).toMatchObject({
    state: "STOPPED",
    stopped: expect.stringContaining("1 of 11") as string,
  });
});

test.each([
  [1, { to: "RETRY_WAIT", delayMs: 3_600_000 }, "stopped after 1: failed again with A"],
  [2, { to: "FAILED" }, "stopped after 11: 2 of 10 failed again with A"],
] as const)(
  "a failure like its group's in step %i stops it, though it may be tried again",
  async (step, to, stopped) => {
    const newest = (await plantFailed(14, "A")).toReversed();
    const begun = await redrive({ filter: { kind: "ping" } });
    await reaches(begun, { steps: { state: "out" } });
    if (step === 2) {
      await ends(newest[0]);
      await pass();
      await ends(newest[1], { ...again, ...to });
      await pass();
    }
    expect(await read(begun)).toMatchObject({ state: "RUNNING", steps: { step, state: "out" } });
    await ends(newest[step === 1 ? 0 : 2], { ...again, ...to });
    expect(await pass()).toBe(0);
    expect(await read(begun)).toMatchObject({ state: "STOPPED", steps: { state: "failed" }, stopped });
    expect((await counted("attempt::text"))["2"]).toBe(step === 1 ? 1 : 3);
    const explained = await opened.call("GET", `/jobs/${newest[13]}/explain`);
    expect(explained.body).toMatchObject({
      sentence: expect.stringContaining(`; redrive ${begun.id} ${stopped}`) as string,
    });
  },
);

test("a failure of another kind is no failure of the step while the job may be tried again", async () => {
  const [id] = await plantFailed(1, "A");
  const begun = await redrive({ filter: { kind: "ping" }, steps: "1,all" });
  await reaches(begun, { steps: { state: "out" } });
  await ends(id, { ...again, errorCode: "OTHER", to: "RETRY_WAIT", delayMs: 60_000 });
  await pass();
  expect(await read(begun)).toMatchObject({ state: "RUNNING", steps: { state: "out" } });
});

test.each(["bulk.chosen", "bulk.retried"])("a process that dies at %s leaves its choice to the next", async (point) => {
  const ids = await plantFailed(3, "A");
  const matched = { count: 3, isMore: false };
  const made = { action: "retry", search: { kind: "ping", states: ["FAILED"] }, caller: "ada", paceMs: 0 } as const;
  const { id } = await beginBulk(opened.options.insight, { ...made, matched, steps: [1] });
  const dies = {
    ...opened.options.ports,
    crashPoint: async (at: string) => {
      if (at === point) throw new Error("it died");
    },
  };
  const dying = { ...opened.options, ports: dies };
  await expect(runBulkPage(dying, { owner: "first" })).rejects.toThrow("it died");
  await opened.advance(1_000);
  if (point === "bulk.retried") await ends(ids[2], { ...again, errorCode: "OTHER", to: "FAILED" });
  expect(await pass()).toBe(0);
  await opened.advance(insightLimits.bulkLeaseMs + 1);
  await pass();
  const now = (await opened.call("GET", `/bulk/${id}`)).body;
  expect(now).toMatchObject({ changed: 1, steps: { jobs: [ids[2]] } });
  expect(await counted("attempt::text")).toEqual(point === "bulk.chosen" ? { 1: 3 } : { 1: 2, 2: 1 });
  expect(await counted("state::text")).toEqual(point === "bulk.chosen" ? { FAILED: 2, QUEUED: 1 } : { FAILED: 3 });
});

test("a step that waits does not keep a later change from its turn", async () => {
  await plantFailed(2, "A");
  const waiting = await redrive({ filter: { error: "A" }, steps: "1,all" });
  await reaches(waiting, { steps: { state: "out" } });
  await plantFailed(2, "B");
  const later = await redrive({ filter: { error: "B" } });
  await reaches(later, { state: "DONE", changed: 2 });
  expect(await read(waiting)).toMatchObject({ state: "RUNNING", changed: 1 });
});

test("a pace is kept over all pages, and little is written ahead, so that a stop leaves the rest as it was", async () => {
  await plantFailed(10, "A");
  const begun = await redrive({ filter: { kind: "ping" }, pace: "30s" });
  await reaches(begun, { changed: 4, state: "RUNNING" });
  const { lastDueAt, createdAt } = await read(begun);
  expect(Date.parse(lastDueAt ?? "") - Date.parse(createdAt)).toBe(90_000);
  const minutes = "(extract(epoch from due_at - belfry.now()) / 60)::text";
  const due = async () =>
    Object.keys(await counted(`case when state = 'FAILED' then 'FAILED' else ${minutes} end`)).filter(
      (each) => each !== "FAILED",
    );
  expect((await due()).map(Number)).toEqual([0, 0.5, 1, 1.5]);
  expect(await pass()).toBe(0);
  await opened.advance(120_000);
  expect(await pass()).toBeGreaterThan(0);
  expect(await read(begun)).toMatchObject({ changed: 8 });
  await plantFailed(10, "B");
  const stopped = await redrive({ filter: { error: "B" }, pace: "30s" });
  await reaches(stopped, { changed: 4 });
  expect(await opened.call("POST", `/bulk/${stopped.id}/stop`)).toMatchObject({ body: { state: "STOPPED" } });
  await opened.advance(600_000);
  await pass();
  expect((await read(stopped)).changed).toBe(4);
});
