import { describe, expect, test } from "vitest";
import type { SettledJob } from "../../src/define/context.ts";
import { defineJob } from "../../src/define/define-job.ts";
import type { JobId } from "../../src/machine/job.ts";
import { workerLimits } from "../../src/run/worker-limits.ts";
import { taskWorker } from "../../src/machine/launcher.ts";
import { startedByOf } from "../../src/run/task-end.ts";
import { createTaskWatch } from "../../src/run/task-watch.ts";
import { jobOf, lane, movesOf, shop } from "./world.ts";

interface Stop {
  readonly task?: string;
  readonly attempt?: number;
  readonly stopCode?: string;
  readonly stoppedReason?: string;
  readonly containers?: readonly object[];
}

/** As EventBridge delivers it; only what is read. */
const stopOf = (jobId: JobId, { task = "t1", attempt = 1, ...more }: Stop = {}) => ({
  "detail-type": "ECS Task State Change",
  source: "aws.ecs",
  detail: {
    taskArn: `arn:aws:ecs:us-east-1:000000000000:task/belfry/${task}`,
    startedBy: startedByOf({ jobId, attempt }),
    lastStatus: "STOPPED",
    stopCode: "UserInitiated",
    containers: [],
    ...more,
  },
});

const settledWith: SettledJob[] = [];
const job = defineJob({
  id: "long",
  runOn: "fargate",
  retry: { maxAttempts: 2, base: "1s" },
  concurrency: 3,
  run: () => {},
  onSettled: async (_, settled) => void settledWith.push(settled),
});

/** A job that was claimed for a launch, and a task that took it over unless `isLaunched` only. */
async function launchedJob(options: { isLaunchedOnly?: boolean } = {}) {
  settledWith.length = 0;
  const opened = await shop([job]);
  const { world: ports, registry } = opened;
  const watch = createTaskWatch(ports, registry);
  const id = await opened.enqueue(job, undefined);
  const claim = async (task: string): Promise<number> => {
    const row = await jobOf(ports, id);
    const message = { jobId: id, generation: row.generation, trace: row.trace };
    const [claimed] = (await ports.store.claim([message], { worker: "worker-1", alone: false })).claimed;
    if (claimed === undefined) throw new Error("nothing was claimed");
    const held = { jobId: id, attempt: claimed.attempt };
    if (options.isLaunchedOnly !== true) {
      await ports.store.takeOver(held, { from: "worker-1", worker: taskWorker(task, "1:a") });
    }
    return claimed.attempt;
  };
  await claim("t1");
  return { ports, watch, id, claim, row: () => jobOf(ports, id) };
}

describe("a task that stopped while its job ran", () => {
  test("was interrupted when an operator stopped it: released at once, and no failure", async () => {
    const { ports, watch, id, row } = await launchedJob();
    const stop = { stopCode: "SpotInterruption", containers: [{ exitCode: 137 }] };
    expect(await watch.notice(stopOf(id, stop))).toBe("settled");
    expect(await row()).toMatchObject({ state: "QUEUED", failures: 0, interruptions: 1 });
    expect(ports.queue.receive(lane, 10)).toHaveLength(2);
    expect(await ports.store.history(id)).toMatchObject([{ from: "RUNNING", worker: "task/t1:1:a" }]);
    expect(settledWith).toEqual([]);
  });

  test("failed when it ended by itself, with a code that says how", async () => {
    const { watch, id, row } = await launchedJob();
    const stop = { stopCode: "EssentialContainerExited", containers: [{ exitCode: 3 }] };
    expect(await watch.notice(stopOf(id, stop))).toBe("settled");
    expect(await row()).toMatchObject({ state: "QUEUED", failures: 1, interruptions: 0, errorCode: "TASK_EXITED" });
    expect(settledWith).toMatchObject([{ outcome: "FAILED", error: { code: "TASK_EXITED" } }]);
  });
});

describe("a task that never started", () => {
  const stop = { stopCode: "TaskFailedToStart", stoppedReason: "CannotPullContainerError: no such image" };

  test("has its job launched again later, and costs no failure", async () => {
    const { ports, watch, id, row } = await launchedJob({ isLaunchedOnly: true });
    expect(await watch.notice(stopOf(id, stop))).toBe("settled");
    const after = await row();
    expect(after).toMatchObject({ state: "QUEUED", failures: 0, interruptions: 1, errorCode: "TASK_NOT_STARTED" });
    expect(after.errorMessage).toContain("CannotPullContainerError");
    expect(after.dueAt - (await ports.store.now())).toBeGreaterThan(workerLimits.launchWaitMs / 4);
    expect(settledWith).toEqual([]);
  });
});

describe("an event that is not news", () => {
  test("twice changes nothing", async () => {
    const { ports, watch, id, claim, row } = await launchedJob();
    await watch.notice(stopOf(id));
    const attempt = await claim("t2");
    expect(await watch.notice(stopOf(id))).toBe("over");
    expect(await row()).toMatchObject({ state: "RUNNING", attempt, interruptions: 1 });
    expect(await movesOf(ports, id)).toHaveLength(4);
  });

  test("of a second task of the same try does not take the job from the one that runs it", async () => {
    const { watch, id, row } = await launchedJob();
    expect(await watch.notice(stopOf(id, { task: "t9" }))).toBe("over");
    expect(await row()).toMatchObject({ state: "RUNNING", worker: "task/t1:1:a" });
  });

  test("whose writing failed is taken again", async () => {
    const { ports, id, row } = await launchedJob();
    const settle = ports.store.settle.bind(ports.store);
    let broken = true;
    const store = {
      ...ports.store,
      settle: (...given: Parameters<typeof settle>) => {
        if (broken) throw new Error("the database is away");
        return settle(...given);
      },
    };
    const clock = { ...ports.clock, elapsedMs: () => ports.clock.elapsedMs(), sleep: () => Promise.resolve() };
    const { registry } = await shop([job]);
    const watch = createTaskWatch({ ...ports, store, clock }, registry);
    await expect(watch.notice(stopOf(id))).rejects.toThrow(`job ${id}`);
    broken = false;
    expect(await watch.notice(stopOf(id))).toBe("settled");
    expect((await row()).interruptions).toBe(1);
  });
});

describe("the end of a task of an attempt that is over", () => {
  const freeing = async (options: { isLaunchedOnly?: boolean }) => {
    const launched = await launchedJob(options);
    const freed: unknown[] = [];
    const { freeSlots } = launched.ports.store;
    const store = Object.assign({}, launched.ports.store, {
      freeSlots: (ended: Parameters<typeof freeSlots>[0]) => {
        freed.push(...ended);
        return freeSlots.call(launched.ports.store, ended);
      },
    });
    const watch = createTaskWatch({ ...launched.ports, store }, (await shop([job])).registry);
    return { ...launched, watch, freed };
  };

  test("frees the slots of that attempt, and leaves the next one to its worker", async () => {
    const { ports, watch, id, claim, row, freed } = await freeing({ isLaunchedOnly: true });
    await watch.notice(stopOf(id, { stopCode: "TaskFailedToStart" }));
    await ports.clock.advance(workerLimits.launchWaitMsMax);
    await claim("");
    expect(freed).toEqual([]);
    expect(await watch.notice(stopOf(id, { task: "t8", stopCode: "EssentialContainerExited" }))).toBe("over");
    expect(freed).toEqual([{ jobId: id, attempt: 1 }]);
    expect(await row()).toMatchObject({ state: "RUNNING", attempt: 2, worker: "worker-1", failures: 0 });
  });

  test("frees none of a canceled job while another task runs its handler, and those of that task at its end", async () => {
    const { ports, watch, id, freed } = await freeing({});
    await ports.store.cancel([id]);
    expect([await watch.notice(stopOf(id, { task: "t9" })), freed]).toEqual(["over", []]);
    expect(await watch.notice(stopOf(id))).toBe("over");
    expect(freed).toEqual([{ jobId: id, attempt: 1 }]);
  });

  test("frees those of its own attempt while a task runs the next one", async () => {
    const { ports, watch, id, claim, row, freed } = await freeing({});
    await watch.notice(stopOf(id));
    await ports.clock.advance(workerLimits.launchWaitMsMax);
    await claim("t2");
    expect(await watch.notice(stopOf(id))).toBe("over");
    expect(freed).toEqual([{ jobId: id, attempt: 1 }]);
    expect(await row()).toMatchObject({ state: "RUNNING", attempt: 2, worker: "task/t2:1:a" });
  });
});
