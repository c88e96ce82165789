import { expect, test } from "vitest";
import { defineJob } from "../../src/define/define-job.ts";
import type { JobId } from "../../src/machine/job.ts";
import type { Store } from "../../src/machine/store.ts";
import { runJobTask } from "../../src/run/run-job.ts";
import { jobOf, shop, world } from "./world.ts";

/** A job that "worker-1" claimed, and the task that takes it over. */
async function claimedJob({ settle }: { settle?: Store["settle"] } = {}) {
  let ran = 0;
  const ports = world((base) => ({
    store: settle === undefined ? base.store : Object.assign({}, base.store, { settle }),
  }));
  const job = defineJob({ id: "long", runOn: "fargate", run: () => void (ran += 1) });
  const { enqueue, receive, registry } = await shop([job], ports);
  const id = await enqueue(job, undefined);
  const messages = receive().map(({ body }) => JSON.parse(body) as Parameters<Store["claim"]>[0][number]);
  await ports.store.claim(messages, { worker: "worker-1", alone: true });
  return {
    ports,
    id,
    ran: () => ran,
    async run(jobId: JobId, signal = new AbortController().signal) {
      const whose = { jobId, attempt: 1, from: "worker-1", worker: "task/t1:a", stage: "test", signal };
      const running = runJobTask(ports, registry, whose);
      await ports.clock.advance(60_000);
      return running;
    },
  };
}

test("a task whose outcome could not be written says that it is unknown", async () => {
  const { run, id } = await claimedJob({ settle: () => Promise.reject(new Error("22021")) });
  expect(await run(id)).toEqual({ outcome: "unknown", state: "RUNNING" });
});

test("a task of no job is refused, and has no state to report", async () => {
  const { run, ran } = await claimedJob();
  expect(await run("4242" as JobId)).toEqual({ outcome: "refused", state: null });
  expect(ran()).toBe(0);
});

test("a task that was stopped before it took the job over releases it without a start", async () => {
  const { run, id, ran, ports } = await claimedJob();
  expect(await run(id, AbortSignal.abort())).toEqual({ outcome: "done", state: "QUEUED" });
  expect(ran()).toBe(0);
  expect(await jobOf(ports, id)).toMatchObject({ state: "QUEUED", failures: 0, interruptions: 1 });
});
