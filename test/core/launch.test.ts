import { atOnce } from "../support/rescue-at-once.ts";
import { once } from "node:events";
import { expect, test } from "vitest";
import { defineJob } from "../../src/define/define-job.ts";
import type { Job } from "../../src/define/context.ts";
import { workerLimits } from "../../src/run/worker-limits.ts";
import { cancelJobs } from "../../src/insight/cancel-and-retry.ts";
import { runBulkPage } from "../../src/insight/run-bulk.ts";
import { type TaskLaunch, type Launched, type Launcher, taskWorker } from "../../src/machine/launcher.ts";
import { rescue } from "../../src/run/rescue.ts";
import { runJobTask } from "../../src/run/run-job.ts";
import { canceledTasks } from "../../src/run/cancel-run.ts";
import { createWorker } from "../../src/run/worker.ts";
import type { QueueRecord } from "../../src/run/message.ts";
import { insightStub } from "../support/insight-stub.ts";
import { acknowledge, gate, jobOf, lane, shop, sum } from "./world.ts";

interface RecordingLauncher extends Launcher {
  readonly launched: TaskLaunch[];
  readonly stopped: string[];
}

/** Remembers what it was asked; `answer` may throw, or say that there is no room. */
function launcher(answer?: () => Launched): RecordingLauncher {
  const launched: TaskLaunch[] = [];
  const stopped: string[] = [];
  return {
    launched,
    stopped,
    async launch(launch) {
      const answered = answer?.() ?? { is: "accepted", task: `t${launched.length + 1}` };
      if (answered.is === "accepted") launched.push(launch);
      return answered;
    },
    async stop(task) {
      stopped.push(task);
    },
    runningSince: async () => 0,
  };
}

const refusing = (): Launched => {
  throw new Error("no such task definition");
};

const long = (run: () => void, options: object = {}): Job<void> =>
  defineJob({ id: "long", runOn: "fargate", timeout: "2h", retry: { maxAttempts: 2 }, ...options, run });

/** A shop whose worker launches tasks. */
async function yard(job: Job<void>, port = launcher()) {
  const opened = await shop([job]);
  const { world: own, registry } = opened;
  const ports = { ...own, launcher: port };
  const options = { stage: "test" };
  const worker = createWorker(ports, registry, { ...options, worker: "worker-1", lane });
  const records = (): readonly QueueRecord[] => opened.receive(100);
  return {
    ...opened,
    world: ports,
    launched: port.launched,
    stopped: port.stopped,
    async work() {
      const batch = records();
      const { failed } = await worker.handle(batch, { remainingMs: () => 60_000 });
      acknowledge(ports, batch, failed);
      return failed;
    },
    task: (launch: TaskLaunch | undefined, signal = new AbortController().signal, name = "t1") => {
      if (launch === undefined) throw new Error("nothing was launched");
      const { jobId, attempt, worker: from } = launch;
      const whose = { jobId, attempt, from, worker: taskWorker(name, "1:a") };
      return runJobTask(own, registry, { ...options, ...whose, signal });
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
    {
      jobId: id,
      attempt: 1,
      kind: "long",
      worker: "worker-1",
      size: null,
      clientToken: `${id}-1-${(await jobOf(ports, id)).trace}`,
    },
  ]);
  expect(ran).toBe(0);
  expect(ports.lines.filter(({ level }) => level !== "info")).toEqual([]);
  expect(await jobOf(ports, id)).toMatchObject({ state: "RUNNING", attempt: 1, worker: "worker-1" });
  expect(ports.clock.pending()).toBe(0);
});

test("a task that never starts is waited for as long as a task may take, and then launched again", async () => {
  const job = long(() => {});
  const { enqueue, work, launched, task, registry, world: ports } = await yard(job);
  const id = await enqueue(job, undefined);
  await work();
  await ports.clock.advance(workerLimits.launchLeaseMs - 1_000);
  const rescued = () => rescue(ports, registry, { lapsed: atOnce, limit: 10, rounds: 1 });
  expect(await rescued()).toMatchObject({ rescued: 0 });
  await ports.clock.advance(2_000);
  expect(await rescued()).toMatchObject({ rescued: 1 });
  await work();
  expect(launched.map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect((await task(launched[0])).outcome).toBe("refused");
  expect((await task(launched[1])).outcome).toBe("done");
  expect((await jobOf(ports, id)).state).toBe("SUCCESS");
});

test("a launch that is refused is a failed try with a reason, and tried again later", async () => {
  const job = long(() => {});
  const { enqueue, work, world: ports } = await yard(job, launcher(refusing));
  const id = await enqueue(job, undefined);
  expect(await work()).toEqual([]);
  expect(await jobOf(ports, id)).toMatchObject({ state: "QUEUED", failures: 1, errorCode: "LAUNCH_FAILED" });
  expect(sum(ports.measured, "job.launch.failed")).toBe(1);
});

test("no room on Fargate costs no try: the job waits longer each time, and its row says why", async () => {
  const job = long(() => {}, { retry: { maxAttempts: 1 } });
  const full = launcher(() => ({ is: "no-room", reason: "Capacity is unavailable at this time." }));
  const { enqueue, work, world: ports } = await yard(job, full);
  const id = await enqueue(job, undefined);
  const waits: number[] = [];
  for (let n = 1; n <= 6; n += 1) {
    await work();
    const row = await jobOf(ports, id);
    expect(row).toMatchObject({ state: "QUEUED", attempt: n, failures: 0, interruptions: 0, errorCode: "NO_ROOM" });
    expect(row.errorMessage).toContain("Capacity is unavailable");
    const waitMs = row.dueAt - (await ports.store.now());
    waits.push(waitMs);
    await ports.clock.advance(waitMs);
  }
  // The chance of this world takes three quarters of each wait.
  const whole = [5_000, 10_000, 20_000, 40_000, 80_000, workerLimits.launchWaitMsMax];
  expect(waits).toEqual(whole.map((ms) => 0.75 * ms));
  expect(sum(ports.measured, "job.launch.postponed")).toBe(6);
});

test("launches of one worker are spaced out, so that a burst stays below what ECS takes from an account", async () => {
  const at: number[] = [];
  const job = long(() => {});
  const port = launcher();
  const {
    enqueue,
    work,
    world: ports,
  } = await yard(job, {
    ...port,
    launch: (launch) => {
      at.push(ports.clock.elapsedMs());
      return port.launch(launch);
    },
  });
  for (let n = 0; n < 10; n += 1) await enqueue(job, undefined);
  const working = work();
  await ports.clock.advance(10 * workerLimits.launchIntervalMs);
  await working;
  const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
  expect(gaps).toHaveLength(9);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(workerLimits.launchIntervalMs);
});

test("a canceled job's task is stopped, and one that has not begun is left to find itself refused", async () => {
  const stop = new AbortController();
  const begun = gate();
  const job = defineJob({
    id: "long",
    runOn: "fargate",
    async run(_, ctx) {
      begun.open();
      await once(ctx.signal, "abort");
      ctx.signal.throwIfAborted();
    },
  });
  const { enqueue, work, launched, stopped, task, registry, world: ports } = await yard(job);
  const [first, second] = [await enqueue(job, undefined), await enqueue(job, undefined)];
  const working = work();
  await ports.clock.advance(workerLimits.launchIntervalMs);
  await working;
  const running = task(
    launched.find(({ jobId }) => jobId === first),
    stop.signal,
  );
  await begun.promise;
  await cancelJobs(ports, registry, [first, second]);
  expect(stopped).toEqual(["t1"]);
  stop.abort();
  expect((await running).state).toBe("CANCELED");
  expect((await task(launched.find(({ jobId }) => jobId === second))).outcome).toBe("refused");
});

test("a change of many jobs that cancels them stops their tasks too", async () => {
  const stop = new AbortController();
  const begun = gate();
  const job = defineJob({
    id: "long",
    runOn: "fargate",
    async run() {
      begun.open();
      // Deaf to its own signal: only the stop of its task ends it.
      await once(stop.signal, "abort");
    },
  });
  const { enqueue, work, launched, stopped, task, registry, world: ports } = await yard(job);
  const id = await enqueue(job, undefined);
  await work();
  const running = task(launched[0]);
  await begun.promise;
  const bulk = { id: "1", action: "cancel", dueAt: 0, paceMs: 0 };
  const insight = insightStub({
    "bulk-take": () => ({ ...bulk, search: {}, next: "9" }),
    "search-ids": () => ({ id }),
  });
  expect(await runBulkPage({ ports, registry, insight }, { owner: "scheduler" })).toBe(true);
  expect(stopped).toEqual(["t1"]);
  stop.abort();
  expect((await running).state).toBe("CANCELED");
});

test("of a canceled job only the task of that attempt is stopped: a retry has another one", async () => {
  const job = long(() => {});
  const { enqueue, work, stopped, registry, world: ports } = await yard(job);
  const jobId = await enqueue(job, undefined);
  await work();
  await ports.store.takeOver({ jobId, attempt: 1 }, { from: "worker-1", worker: taskWorker("t1", "1:a") });
  const tasks = canceledTasks(ports, registry);
  const row = { jobId, kind: "long", payload: null, state: "CANCELED", errorCode: null, errorMessage: null } as const;
  for (const attempt of [0, 2, 1]) {
    await tasks.noting(async () => {})(null as never, [{ ...row, attempt }]);
    await tasks.stop();
    expect(stopped).toEqual(attempt === 1 ? ["t1"] : []);
  }
});
