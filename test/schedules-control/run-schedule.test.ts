import { expect, test } from "vitest";
import { defineSchedule } from "../../src/core/define/define-schedule.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { deliveryLimits } from "../../src/core/ports/delivery-limits.ts";
import { scheduleLimits } from "../../src/core/ports/schedule-limits.ts";
import type { Ports } from "../../src/core/ports/ports.ts";
import { runSchedule, scheduleLock } from "../../src/core/scheduler/run-schedule.ts";
import { createMemoryLockStore } from "../../src/testing/memory-lock-store.ts";
import { hour, midnight, minute, stage, work } from "./stage.ts";
import { aPause } from "../support/pause.ts";

const ruled = (over: object = {}) =>
  defineSchedule({ id: "s", cron: "*/5 * * * *", timezone: "UTC", run: work, launch: "rule", ...over } as never);

/** A stage whose schedules have rules, and what a wake of one does. */
async function woken(over: object = {}) {
  const at = await stage([ruled(over)]);
  const locks = createMemoryLockStore();
  const clock = {
    elapsedMs: () => at.now(),
    sleep: (ms: number) => at.advance(Math.ceil(ms)),
    after: () => () => undefined,
  };
  const ports: Ports = { ...at.ports, locks, clock };
  const signal = new AbortController().signal;
  const wake = (id = "s") =>
    runSchedule(ports, at.definitions, {
      id,
      owner: "task",
      stage: "test",
      onLockOutage: "postgres",
      signal,
    });
  const ledger = async () => (await at.ledger("s")).map((row) => [(row.nominalAt - midnight) / minute, row.outcome]);
  return { ...at, ports, locks, wake, outcomes: ledger };
}

test("a wake writes the occurrence and the job a tick would have written, and does the work itself", async () => {
  const at = await woken();
  await at.advance(5 * minute);
  const report = await at.wake();
  expect(report).toMatchObject({ outcome: "done", occurrences: 1, jobs: [{ state: "SUCCESS" }] });
  expect(await at.outcomes()).toEqual([[5, "FIRED"]]);
  const [row] = await at.ledger("s");
  const { job } = (await at.store.job(row?.jobId ?? fail())) ?? fail();
  expect(job).toMatchObject({ scheduleId: "s", scheduledFor: midnight + 5 * minute, state: "SUCCESS" });
  expect(job).toMatchObject({ attempt: 1, worker: expect.stringContaining("schedule:s@task") });
  expect(at.sent).toEqual([]);
  expect(await at.store.reopen({ olderThanMs: 0, limit: 10, messagesMax: 1_000 })).toEqual([]);
});

test("the tick leaves it to its task, and makes up for a wake that was lost after the grace, once", async () => {
  const at = await woken();
  await at.advance(5 * minute);
  await at.tick();
  expect(await at.outcomes()).toEqual([]);
  await at.advance(scheduleLimits.ruleGraceMs - 1_000);
  await at.tick();
  expect(await at.outcomes()).toEqual([]);
  await at.advance(1_000);
  await at.tick();
  await at.work();
  expect(await at.outcomes()).toEqual([[5, "FIRED"]]);
  expect(await at.wake()).toMatchObject({ outcome: "nothing-due" });
  expect(at.ran).toHaveLength(1);
});

test("a healthy rule leaves the tick nothing to do", async () => {
  const at = await woken();
  for (let k = 1; k <= 4; k++) {
    await at.advance(5 * minute);
    await at.wake();
    await at.advance(2 * minute);
    expect(await at.tick()).toMatchObject({ occurrences: 0 });
    await at.advance(-2 * minute);
  }
  expect(await at.outcomes()).toEqual([5, 10, 15, 20].map((each) => [each, "FIRED"]));
});

test("a wake that comes twice does its work once", async () => {
  const at = await woken();
  await at.advance(5 * minute);
  const [first, second] = [await at.wake(), await at.wake()];
  expect([first.outcome, second.outcome]).toEqual(["done", "nothing-due"]);
  expect(await at.outcomes()).toEqual([[5, "FIRED"]]);
});

test("a wake that comes a little before its time waits for it", async () => {
  const at = await woken();
  await at.advance(5 * minute - 4_000);
  expect(await at.wake()).toMatchObject({ outcome: "done", jobs: [{ state: "SUCCESS" }] });
  expect(at.now()).toBeGreaterThanOrEqual(midnight + 5 * minute);
  await at.advance(minute);
  expect(await at.wake()).toMatchObject({ outcome: "nothing-due" });
});

test("while another task has the lock, a wake ends, and the tick records the time it left", async () => {
  const at = await woken({ overlap: "skip" });
  const taken = { owner: "other", rvn: "1", leaseMs: 60_000, overRvn: null };
  await at.locks.take(scheduleLock("s"), taken);
  const beating = {
    ...at.ports.clock,
    sleep: async () => void (await at.locks.renew(scheduleLock("s"), "other", 1, `${Math.random()}`)),
  };
  await at.advance(5 * minute);
  const report = await runSchedule({ ...at.ports, clock: beating }, at.definitions, {
    id: "s",
    owner: "task",
    stage: "test",
    onLockOutage: "postgres",
    signal: new AbortController().signal,
  });
  expect(report).toMatchObject({ outcome: "held", heldBy: "other" });
  await at.advance(scheduleLimits.ruleGraceMs);
  await at.tick();
  expect(await at.outcomes()).toEqual([[5, "PLANNED"]]);
});

test.each(["tick.afterCommit", "received"])(
  "a task that dies at %s, before its claim, leaves the job to the lane",
  async (point) => {
    const at = await woken();
    await at.advance(5 * minute);
    at.crash(point);
    await expect(at.wake()).rejects.toThrow("crashed");
    at.crash(null);
    await at.advance(deliveryLimits.outboxOpenMs + 1_000);
    const reopened = await at.store.reopen({ olderThanMs: deliveryLimits.outboxOpenMs, limit: 10, messagesMax: 1_000 });
    expect(reopened.flatMap((handoff) => handoff.messages)).toHaveLength(1);
    expect(await at.wake()).toMatchObject({ outcome: "nothing-due" });
  },
);

test("a task whose claim fails leaves the job to the lane", async () => {
  const at = await woken();
  await at.advance(5 * minute);
  const store = { ...at.store, claim: () => Promise.reject(new Error("canceled by the lock timeout")) };
  const options = { id: "s", owner: "task", stage: "test", onLockOutage: "postgres" } as const;
  const { signal } = new AbortController();
  const report = await runSchedule({ ...at.ports, store }, at.definitions, { ...options, signal });
  expect(report).toMatchObject({ outcome: "done", jobs: [{ state: "QUEUED" }] });
  const [reopened] = await at.store.reopen({ olderThanMs: 0, limit: 10, messagesMax: 1_000 });
  expect(reopened?.messages.map(({ jobId }) => jobId)).toEqual(report.jobs.map(({ id }) => id));
});

test("after an outage the misfire policy decides, and the paced ones are left to the lane", async () => {
  const at = await woken({ misfire: { all: { pace: "10s" } } });
  await at.advance(hour);
  const report = await at.wake();
  expect(report).toMatchObject({ outcome: "done", occurrences: 12, jobs: [] });
  expect(at.store.tables.inStates("PENDING")).toHaveLength(12);
  const merged = await woken();
  await merged.advance(hour);
  expect(await merged.wake()).toMatchObject({ occurrences: 12, jobs: [{ state: "SUCCESS" }] });
});

test("a pause is decided at claim; off in this stage and unknown end at once", async () => {
  const at = await woken();
  await at.advance(5 * minute);
  await at.store.pauseSchedule("s", aPause);
  expect(await at.wake()).toMatchObject({ jobs: [{ state: "SKIPPED" }] });
  expect(await at.wake("none")).toMatchObject({ outcome: "unknown" });
  const off = await woken({ enabled: { prod: true } });
  await off.advance(5 * minute);
  expect(await off.wake()).toMatchObject({ outcome: "disabled", occurrences: 0 });
});

test("a handler that fails is a FAILED job of the report, and its tries are the definition's", async () => {
  const run = () => Promise.reject(new Error("no"));
  const failing = defineJob({ id: "failing", retry: { maxAttempts: 1 }, run });
  const at = await woken({ run: failing });
  await at.advance(5 * minute);
  expect(await at.wake()).toMatchObject({ outcome: "done", jobs: [{ state: "FAILED" }] });
  const again = await woken({ run: defineJob({ id: "failing", retry: { maxAttempts: 2, base: "10m" }, run }) });
  await again.advance(5 * minute);
  expect(await again.wake()).toMatchObject({ outcome: "done", jobs: [{ state: "RETRY_WAIT" }] });
});

function fail(): never {
  throw new Error("nothing there");
}
