import { describe, expect, test } from "vitest";
import { attemptsOf, movesOf } from "../../src/core/job/history.ts";
import type { HistoryRow, JobView } from "../../src/core/job/job.ts";
import { defineJob, PermanentError } from "../../src/core/index.ts";
import { aJob } from "./explain/facts.ts";
import { shop, type World } from "./world.ts";
import type { JobId } from "../../src/core/job/job.ts";

const shown = async ({ store }: World, id: JobId): Promise<{ job: JobView; history: readonly HistoryRow[] }> => {
  const found = await store.job(id);
  if (found === null) throw new Error(`job ${id} does not exist`);
  return found;
};

describe("a job's attempts and moves, from its row and its history", () => {
  test("a failed attempt and the success after it are two attempts, and every kept move is told in order", async () => {
    let runs = 0;
    const twice = defineJob({
      id: "twice",
      retry: { maxAttempts: 2, base: "1s" },
      run() {
        runs += 1;
        if (runs === 1) throw new Error("busy");
      },
    });
    const { world: ports, enqueue, work } = await shop([twice]);
    const id = await enqueue(twice, undefined);
    await work();
    await ports.clock.advance(1_000);
    await work();
    const { job, history } = await shown(ports, id);
    expect(attemptsOf(job, history).map(({ attempt, outcome, errorCode }) => [attempt, outcome, errorCode])).toEqual([
      [1, "RETRY_WAIT", "Error"],
      [2, "SUCCESS", null],
    ]);
    expect(movesOf(job, history).map(({ from, to, attempt }) => [from, to, attempt])).toEqual([
      [null, "PENDING", 0],
      ["RUNNING", "RETRY_WAIT", 1],
      ["QUEUED", "RUNNING", 2],
      ["RUNNING", "SUCCESS", 2],
    ]);
  });

  test("a job that runs shows its start and no attempt yet; one that failed shows its last attempt once", async () => {
    const fails = defineJob({
      id: "fails",
      run() {
        throw new PermanentError("no");
      },
    });
    const { world: ports, enqueue, work, receive } = await shop([fails]);
    const id = await enqueue(fails, undefined);
    const before = await shown(ports, id);
    expect(attemptsOf(before.job, before.history)).toEqual([]);
    expect(movesOf(before.job, before.history)).toHaveLength(1);
    await work();
    const { job, history } = await shown(ports, id);
    expect(attemptsOf(job, history)).toMatchObject([{ attempt: 1, worker: "worker-1", outcome: "FAILED" }]);
    expect(movesOf(job, history).at(-1)).toMatchObject({ to: "FAILED", reason: "permanent" });
    expect(receive()).toEqual([]);
  });
});

const row: HistoryRow = {
  id: "7",
  at: 50,
  from: "RUNNING",
  to: "RETRY_WAIT",
  reason: "retry",
  attempt: 1,
  generation: 2,
  worker: null,
  caller: null,
  startedAt: 40,
  errorCode: "BUSY",
  errorMessage: "busy",
};
const done = aJob({ state: "SUCCESS", attempt: 2, generation: 3, createdAt: 1, startedAt: 60, finishedAt: 70 });

test("an attempt is a move from RUNNING that knows its start; a success, one whose row knows both", () => {
  const kept = { attempt: 1, worker: "", startedAt: 40, endedAt: 50, outcome: "RETRY_WAIT" } as const;
  const error = { errorCode: "BUSY", errorMessage: "busy" };
  expect(attemptsOf({ ...done, state: "QUEUED" }, [row])).toEqual([{ ...kept, ...error }]);
  expect(attemptsOf(aJob({ state: "FAILED" }), [{ ...row, from: "QUEUED" }])).toEqual([]);
  expect(attemptsOf(aJob({ state: "FAILED" }), [{ ...row, startedAt: null }])).toEqual([]);
  const success = { attempt: 2, startedAt: 60, endedAt: 70, outcome: "SUCCESS", errorCode: null, errorMessage: null };
  expect(attemptsOf(done, [row])).toEqual([
    { ...kept, ...error },
    { ...success, worker: "" },
  ]);
  expect(attemptsOf({ ...done, worker: "w" }, [{ ...row, worker: "v" }]).map(({ worker }) => worker)).toEqual([
    "v",
    "w",
  ]);
  for (const over of [{ startedAt: null }, { finishedAt: null }, { state: "RUNNING" }] as const)
    expect(attemptsOf({ ...done, ...over }, [])).toEqual([]);
});

test("a job's moves are its creation, those kept, the start of one that runs or ran, and its success", () => {
  const base = { jobId: done.id, reason: null, caller: null, attempt: 2, generation: 3, worker: null };
  const created = { ...base, id: "created", at: 1, from: null, to: "PENDING", attempt: 0, generation: 0 };
  const { startedAt: _started, errorCode: _code, errorMessage: _message, ...move } = row;
  const started = { ...base, id: "started", at: 60, from: "QUEUED", to: "RUNNING" };
  const succeeded = { ...base, id: "succeeded", at: 70, from: "RUNNING", to: "SUCCESS" };
  expect(movesOf(done, [row])).toEqual([created, { ...move, jobId: done.id }, started, succeeded]);
  expect(movesOf({ ...done, finishedAt: null }, [])).toEqual([created, started]);
  expect(movesOf({ ...done, startedAt: null }, [])).toEqual([created, succeeded]);
  expect(movesOf({ ...done, state: "RUNNING" }, [])).toEqual([created, started]);
  expect(movesOf({ ...done, state: "FAILED" }, [])).toEqual([created]);
  expect(movesOf({ ...done, state: "RUNNING", startedAt: null }, [])).toEqual([created]);
});
