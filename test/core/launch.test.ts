import { expect, test } from "vitest";
import { defineJob } from "../../src/core/definitions/define-job.ts";
import type { Job } from "../../src/core/definitions/context.ts";
import { limits } from "../../src/core/limits.ts";
import type { Launch, Launcher } from "../../src/core/ports.ts";
import { rescue } from "../../src/core/rescue.ts";
import { runJob } from "../../src/core/work/run-job.ts";
import { createWorker } from "../../src/core/work/worker.ts";
import { acknowledge, jobOf, lane, movesOf, shop, sum } from "./world.ts";

/** Remembers what it was asked to launch; `refuses` makes it throw. */
function launcher(refuses = false): Launcher & { readonly launched: Launch[] } {
  const launched: Launch[] = [];
  return {
    launched,
    async launch(launch) {
      if (refuses) throw new Error("no capacity");
      launched.push(launch);
    },
    async stop() {},
  };
}

const long = (run: () => void, options: object = {}): Job<void> =>
  defineJob({ id: "long", runOn: "fargate", timeout: "2h", retry: { maxAttempts: 2 }, ...options, run });

/** A shop whose worker launches tasks. */
async function yard(job: Job<void>, port = launcher()) {
  const opened = await shop([job]);
  const { world: ports, registry } = opened;
  const options = { stage: "test", lookAheadMs: limits.lookAheadMs };
  const worker = createWorker(ports, registry, { ...options, worker: "worker-1", lane, launcher: port });
  return {
    ...opened,
    launched: port.launched,
    async work() {
      const records = opened.receive();
      const { failed } = await worker.handle(records, { remainingMs: () => 60_000 });
      acknowledge(ports, records, failed);
      return failed;
    },
    task: (launch: Launch | undefined, signal = new AbortController().signal, name = "task-1") => {
      if (launch === undefined) throw new Error("nothing was launched");
      const { jobId, attempt, worker: from } = launch;
      return runJob(ports, registry, { ...options, jobId, attempt, from, worker: name, signal });
    },
  };
}

test("the lane's worker launches a job with a task of its own, acknowledges the message and runs nothing itself", async () => {
  let ran = 0;
  const { enqueue, work, launched, world: ports } = await yard(long(() => void (ran += 1)));
  const [job] = [long(() => {})];
  const id = await enqueue(job, undefined);
  expect(await work()).toEqual([]);
  expect(launched).toEqual([
    { jobId: id, attempt: 1, kind: "long", worker: "worker-1", clientToken: `belfry-${id}-1` },
  ]);
  expect(ran).toBe(0);
  expect(await jobOf(ports, id)).toMatchObject({ state: "RUNNING", attempt: 1, worker: "worker-1" });
  expect(ports.clock.pending()).toBe(0);
});

test("the task takes the try over, runs it and settles it under its own name", async () => {
  let ran = 0;
  const job = long(() => void (ran += 1));
  const { enqueue, work, launched, task, world: ports } = await yard(job);
  const id = await enqueue(job, undefined);
  await work();
  expect(await task(launched[0])).toEqual({ outcome: "done", state: "SUCCESS" });
  expect(ran).toBe(1);
  expect(await movesOf(ports, id)).toEqual([">QUEUED", "QUEUED>RUNNING", "RUNNING>SUCCESS"]);
  expect((await ports.store.job(id))?.attempts).toMatchObject([{ attempt: 1, worker: "task-1", outcome: "SUCCESS" }]);
  expect(ports.clock.pending()).toBe(0);
});

test("a second task of the same try is refused and runs nothing", async () => {
  let ran = 0;
  const job = long(() => void (ran += 1));
  const { enqueue, work, launched, task } = await yard(job);
  await enqueue(job, undefined);
  await work();
  const [first, second] = await Promise.all([task(launched[0]), task(launched[0], undefined, "task-2")]);
  expect([first.outcome, second.outcome].toSorted()).toEqual(["done", "refused"]);
  expect(ran).toBe(1);
});

test("a task that never starts is waited for as long as a task may take, and then launched again", async () => {
  const job = long(() => {});
  const { enqueue, work, launched, task, registry, world: ports } = await yard(job);
  const id = await enqueue(job, undefined);
  await work();
  await ports.clock.advance(limits.launchLeaseMs - 1_000);
  expect(await rescue(ports, registry, { limit: 10, rounds: 1 })).toMatchObject({ rescued: 0 });
  await ports.clock.advance(2_000);
  expect(await rescue(ports, registry, { limit: 10, rounds: 1 })).toMatchObject({ rescued: 1 });
  await work();
  expect(launched.map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect((await task(launched[0])).outcome).toBe("refused");
  expect((await task(launched[1])).outcome).toBe("done");
  expect((await jobOf(ports, id)).state).toBe("SUCCESS");
});

test("a launch that is refused is a failed try with a reason, and tried again later", async () => {
  const job = long(() => {});
  const { enqueue, work, world: ports } = await yard(job, launcher(true));
  const id = await enqueue(job, undefined);
  expect(await work()).toEqual([]);
  expect(await jobOf(ports, id)).toMatchObject({ state: "QUEUED", failures: 1, errorCode: "LAUNCH_FAILED" });
  expect(sum(ports.measured, "job.launch.failed")).toBe(1);
});

test("a task that is told to stop releases its job without costing a failure", async () => {
  const stop = new AbortController();
  const job = defineJob({
    id: "long",
    runOn: "fargate",
    async run(_, ctx) {
      stop.abort();
      ctx.signal.throwIfAborted();
    },
  });
  const { enqueue, work, launched, task, world: ports } = await yard(job);
  const id = await enqueue(job, undefined);
  await work();
  expect(await task(launched[0], stop.signal)).toMatchObject({ outcome: "done", state: "QUEUED" });
  expect(await jobOf(ports, id)).toMatchObject({ state: "QUEUED", failures: 0, interruptions: 1 });
});
