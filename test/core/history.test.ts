import { describe, expect, test } from "vitest";
import { attemptsOf, movesOf } from "../../src/machine/history.ts";
import type { HistoryRow, JobView, JobId } from "../../src/machine/job.ts";
import { defineJob, PermanentError } from "../../src/compose/index.ts";
import { shop, type World } from "./world.ts";

const shown = async ({ store }: World, id: JobId): Promise<{ job: JobView; history: readonly HistoryRow[] }> => {
  const job = await store.job(id);
  if (job === null) throw new Error(`job ${id} does not exist`);
  return { job, history: await store.history(id) };
};

describe("a job's attempts and moves, from its row and its history", () => {
  test("a failed attempt and the success after it are two attempts, and every kept move is shown in order", async () => {
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
      [1, "FAILED", "Error"],
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
