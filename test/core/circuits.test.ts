import { expect, test } from "vitest";
import { PermanentError, RetryLater } from "../../src/define/errors.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { pass } from "../../src/schedule/pass.ts";
import { jobOf, shop, sum } from "./world.ts";

const signal = new AbortController().signal;

test("a target that is down is called as often as its circuit needs, then by probes; nothing uses an attempt, all end when it is back", async () => {
  let isDown = true;
  const calls: boolean[] = [];
  const charge = defineJob({
    id: "charge",
    retry: { maxAttempts: 3, backoff: "fixed", base: "1s" },
    circuit: { on: ["HTTP_5xx"], minimum: 10, pause: "1m", name: "stripe" },
    run: () => {
      calls.push(isDown);
      if (isDown) throw new RetryLater("it is down", { code: "HTTP_503" });
    },
  });
  const at = await shop([charge]);
  const ids: string[] = [];
  const second = async (): Promise<void> => {
    await pass(at.world, at.registry, { signal });
    for (let batch = 0; batch < 10; batch += 1) await at.work();
    await at.world.clock.advance(1_000);
  };
  for (let n = 0; n < 100; n += 1) ids.push(await at.enqueue(charge, undefined));
  for (let n = 0; n < 200; n += 1) await second();
  // The first batch, the look at the circuits, and a probe a minute.
  expect(calls).toHaveLength(10 + 3);
  expect(sum(at.world.measured, "circuit.opened")).toBe(1);
  isDown = false;
  for (let n = 0; n < 70; n += 1) await second();
  const jobs = await Promise.all(ids.map((id) => jobOf(at.world, id as never)));
  expect(jobs.map(({ state }) => state)).toEqual(jobs.map(() => "SUCCESS"));
  expect(jobs.reduce((total, { failures }) => total + failures, 0)).toBe(13);
  expect(calls.filter((was) => !was)).toHaveLength(100);
});

test("what does not say that a target is down opens nothing, and another kind goes on beside an open circuit", async () => {
  const refused = defineJob({
    id: "refused",
    retry: { maxAttempts: 1 },
    circuit: { on: ["HTTP_5xx"], minimum: 1 },
    run: () => {
      throw new PermanentError("no such card", { code: "HTTP_404" });
    },
  });
  const plain = defineJob({ id: "plain", run: () => {} });
  const at = await shop([refused, plain]);
  for (let n = 0; n < 20; n += 1) await at.enqueue(refused, undefined);
  await at.work();
  expect(await at.world.store.openCircuits()).toEqual([]);
  await at.world.store.countForCircuits([{ name: "refused", code: "HTTP_500", ends: 20 }], { worker: "other" });
  const rule = [...at.registry.jobs.values()].flatMap(({ circuit }) => circuit ?? []);
  expect(await at.world.store.judgeCircuits(rule)).toMatchObject([{ name: "refused", ended: 30, failed: 20 }]);
  await at.world.clock.advance(1_000);
  const free = await at.enqueue(plain, undefined);
  for (let n = 0; n < 2; n += 1) await at.work();
  expect((await jobOf(at.world, free)).state).toBe("SUCCESS");
  expect(at.world.store.tables.inStates("PENDING")).toHaveLength(10);
});

test("a target that fails wholly sees at most 1.2 times its usual calls, and no retry is lost", async () => {
  let isDown = false;
  let calls = 0;
  const charge = defineJob({
    id: "charge",
    retry: { maxAttempts: 50, backoff: "fixed", base: "1s", budget: 0.2 },
    run: () => {
      calls += 1;
      if (isDown) throw new RetryLater("it is down", { code: "HTTP_503" });
    },
  });
  const at = await shop([charge]);
  const ids: string[] = [];
  const aMinute = async (): Promise<number> => {
    const before = calls;
    for (let n = 0; n < 20; n += 1) {
      for (let each = 0; each < 8; each += 1) ids.push(await at.enqueue(charge, undefined));
      await pass(at.world, at.registry, { signal });
      for (let batch = 0; batch < 2; batch += 1) await at.work();
      await at.world.clock.advance(3_000);
    }
    return calls - before;
  };
  expect(await aMinute()).toBe(160);
  isDown = true;
  const whileDown = await aMinute();
  expect(whileDown).toBeGreaterThan(160 * 1.1);
  expect(whileDown).toBeLessThanOrEqual(160 * 1.2);
  isDown = false;
  for (let n = 0; n < 60; n += 1) {
    await pass(at.world, at.registry, { signal });
    for (let batch = 0; batch < 3; batch += 1) await at.work();
    await at.world.clock.advance(20_000);
  }
  const jobs = await Promise.all(ids.map((id) => jobOf(at.world, id as never)));
  expect(Map.groupBy(jobs, ({ state }) => state).get("SUCCESS")).toHaveLength(320);
});
