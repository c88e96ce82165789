import { expect, test } from "vitest";
import { defineApp } from "../../src/core/define/define-app.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { registry as registryOf } from "../../src/core/define/definition.ts";
import type { JobId } from "../../src/core/job/job.ts";
import { workerLimits } from "../../src/core/work/worker-limits.ts";
import { type InSameTransaction, type Ports, taskWorker } from "../../src/core/ports/ports.ts";
import { canceledTasks } from "../../src/core/work/stop-tasks.ts";

const registry = registryOf([
  defineApp({
    name: "a",
    jobs: [defineJob({ id: "long", runOn: "fargate", run: () => {} }), defineJob({ id: "short", run: () => {} })],
  }),
]);

type Rows = Parameters<InSameTransaction>[1];
const rowsOf = (kind: string, count: number, attempt = 1): Rows =>
  Array.from({ length: count }, (_, n) => ({ jobId: String(n + 1) as JobId, kind, attempt })) as unknown as Rows;

/** Every job runs on a task of its own, and ECS takes a turn of the event loop for each stop. */
function account(row: object = {}) {
  const stopped: string[] = [];
  const looked: string[] = [];
  const warned: string[] = [];
  let atOnce = 0;
  let atOnceMost = 0;
  const ports = {
    store: {
      peek: async ([id]: readonly JobId[]) => {
        looked.push(String(id));
        return [{ attempt: 1, worker: taskWorker(`t${id}`, "x"), ...row }];
      },
    },
    launcher: {
      async stop(task: string) {
        atOnce += 1;
        atOnceMost = Math.max(atOnceMost, atOnce);
        await new Promise((resolve) => setImmediate(resolve));
        atOnce -= 1;
        if (task === "t7") throw new Error("throttled");
        stopped.push(task);
      },
    },
    log: { warn: (message: string) => void warned.push(message) },
  } as unknown as Pick<Ports, "store" | "log" | "launcher">;
  return { ports, stopped, looked, warned, most: () => atOnceMost };
}

test("of many canceled jobs every task is stopped, a few at a time, whichever page they came with", async () => {
  const { ports, stopped, most } = account();
  const tasks = canceledTasks(ports, registry);
  const hook = tasks.noting(async () => {});
  const page = rowsOf("long", 1_000);
  await hook(null as never, page.slice(0, 600));
  await tasks.stop();
  expect(stopped).toHaveLength(599);
  await hook(null as never, page.slice(600));
  await tasks.stop();
  // One refusal is not in the way of the others.
  expect(new Set(stopped)).toEqual(new Set(page.map(({ jobId }) => `t${jobId}`).filter((task) => task !== "t7")));
  expect(stopped).toHaveLength(999);
  expect(most()).toBe(workerLimits.taskStopsConcurrencyMax);
});

test("a job that runs in its worker has no task to stop", async () => {
  const { ports, stopped } = account();
  const tasks = canceledTasks(ports, registry);
  await tasks.noting(async () => {})(null as never, rowsOf("short", 3));
  await tasks.stop();
  expect(stopped).toEqual([]);
});

test.each<[string, number, object, readonly string[], readonly string[]]>([
  ["runs on its task", 1, {}, ["t1"], ["1"]],
  ["was retried since, and has another task", 1, { attempt: 2 }, [], ["1"]],
  ["is not in a task yet", 1, { worker: "worker-1" }, [], ["1"]],
  ["never had an attempt", 0, {}, [], []],
])("a job that %s, canceled in attempt %s", async (_, attempt, row, tasks, looks) => {
  const { ports, stopped, looked, warned } = account(row);
  const canceled = canceledTasks(ports, registry);
  await canceled.noting(async () => {})(null as never, rowsOf("long", 1, attempt));
  await canceled.stop();
  expect([stopped, looked, warned]).toEqual([tasks, looks, []]);
});

test("a job whose row is gone has no task to stop, and is no failure", async () => {
  const { ports, stopped, warned } = account();
  const gone = { ...ports, store: { ...ports.store, peek: async () => [] } };
  const canceled = canceledTasks(gone, registry);
  await canceled.noting(async () => {})(null as never, rowsOf("long", 1));
  await canceled.stop();
  expect([stopped, warned]).toEqual([[], []]);
});

test("a process without a launcher looks at no row", async () => {
  const { ports, looked } = account();
  const canceled = canceledTasks({ store: ports.store, log: ports.log }, registry);
  await canceled.noting(async () => {})(null as never, rowsOf("long", 3));
  await canceled.stop();
  expect(looked).toEqual([]);
});
