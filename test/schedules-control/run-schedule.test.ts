import { describe, expect, test } from "vitest";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { deliveryLimits } from "../../src/machine/delivery-limits.ts";
import type { Ports } from "../../src/machine/ports.ts";
import { scheduleLimits, type ScheduleSpec } from "../../src/machine/schedule.ts";
import { passLimits } from "../../src/schedule/pass-limits.ts";
import { runSchedule, scheduleLock } from "../../src/schedule/run-schedule.ts";
import { createMemoryLockStore } from "../../src/testing/memory-lock-store.ts";
import { hour, midnight, minute, stage, work } from "./stage.ts";
import { aPause } from "../support/pause.ts";
import { eachTest } from "../support/each-test.ts";

const options = { owner: "task", stage: "test", onLockOutage: "postgres" } as const;
const { signal } = new AbortController();
const step = 5 * minute;

/** A stage with one schedule every five minutes, and what its task asks of the ports. */
async function woken(over: object = {}) {
  const ruled = (more: object = {}) =>
    defineSchedule({
      id: "s",
      cron: "*/5 * * * *",
      timezone: "UTC",
      run: work,
      launch: "rule",
      ...over,
      ...more,
    } as never);
  const at = await stage([ruled()]);
  const slept: number[] = [];
  const locks = createMemoryLockStore();
  const clock = {
    elapsedMs: () => at.now(),
    sleep: (ms: number) => (slept.push(ms), at.advance(Math.ceil(ms))),
    after: () => () => undefined,
  };
  const ports: Ports = { ...at.ports, locks, clock };
  return {
    ...at,
    ports,
    locks,
    slept,
    wake: (id = "s") => runSchedule(ports, at.definitions, { ...options, id, signal }),
    edit: (more: object) => at.store.installSchedules([ruled(more).spec("test", "test")]),
    row: () => at.store.tables.schedules.row("s"),
    respec: (spec: Partial<ScheduleSpec>) => {
      const row = at.store.tables.schedules.row("s");
      at.store.tables.schedules.set("s", { ...row, spec: { ...row.spec, ...spec } });
    },
    outcomes: async () => (await at.ledger("s")).map((row) => [(row.nominalAt - midnight) / minute, row.outcome]),
    minutes: async () => (await at.ledger("s")).map((row) => (row.nominalAt - midnight) / minute),
  };
}

const at = eachTest(woken);

test("a wake writes the occurrence and the job a tick would have written, and does the work itself", async () => {
  await at.advance(5 * minute);
  const report = await at.wake();
  expect(report).toMatchObject({ outcome: "done", occurrences: 1, jobs: [{ state: "SUCCESS" }] });
  expect(await at.outcomes()).toEqual([[5, "FIRED"]]);
  const [row] = await at.ledger("s");
  const job = (await at.store.job(row?.jobId ?? fail())) ?? fail();
  expect(job).toMatchObject({ scheduleId: "s", scheduledFor: midnight + 5 * minute, state: "SUCCESS" });
  expect(job).toMatchObject({ attempt: 1, worker: expect.stringContaining("schedule:s@task") });
  expect(at.sent).toEqual([]);
  expect(await at.store.reopen({ olderThanMs: 0, limit: 10, messagesMax: 1_000 })).toEqual([]);
});

test("the tick leaves it to its task, and makes up for a wake that was lost after the grace, once", async () => {
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
  for (let k = 1; k <= 4; k++) {
    await at.advance(5 * minute);
    await at.wake();
    await at.advance(2 * minute);
    expect(await at.tick()).toMatchObject({ occurrences: 0 });
    await at.advance(-2 * minute);
  }
  expect(await at.outcomes()).toEqual([5, 10, 15, 20].map((each) => [each, "FIRED"]));
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
  const report = await runSchedule({ ...at.ports, clock: beating }, at.definitions, { ...options, id: "s", signal });
  expect(report).toMatchObject({ outcome: "held", heldBy: "other" });
  await at.advance(scheduleLimits.ruleGraceMs);
  await at.tick();
  expect(await at.outcomes()).toEqual([[5, "PLANNED"]]);
});

test.each(["tick.afterCommit", "received"])(
  "a task that dies at %s, before its claim, leaves the job to the lane",
  async (point) => {
    await at.advance(5 * minute);
    at.crash(point);
    await expect(at.wake()).rejects.toThrow("crashed");
    at.crash(null);
    await at.advance(deliveryLimits.outboxOpenMs + 1_000);
    const reopened = await at.store.reopen({ olderThanMs: deliveryLimits.outboxOpenMs, limit: 10, messagesMax: 1_000 });
    expect(reopened.flatMap((batch) => batch.messages)).toHaveLength(1);
    expect(await at.wake()).toMatchObject({ outcome: "nothing-due" });
  },
);

test("a task whose claim fails leaves the job to the lane", async () => {
  await at.advance(5 * minute);
  const store = { ...at.store, claim: () => Promise.reject(new Error("canceled by the lock timeout")) };
  const report = await runSchedule({ ...at.ports, store }, at.definitions, { ...options, id: "s", signal });
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

describe("a wake before its time", () => {
  test.each([
    [scheduleLimits.ruleEarlyMs + 1, [], "nothing-due"],
    [scheduleLimits.ruleEarlyMs, [scheduleLimits.ruleEarlyMs + 1], "done"],
    [1, [2], "done"],
    [0, [], "done"],
    [-1, [], "done"],
  ])("by %d ms sleeps %j", async (earlyMs, slept, outcome) => {
    await at.advance(step - earlyMs);
    expect(await at.wake()).toMatchObject({ outcome });
    expect(at.slept).toEqual(slept);
  });

  test("sleeps for no schedule that is off, was deleted, or has ended", async () => {
    const off = await woken({ enabled: false });
    await off.advance(step - 1_000);
    expect(await off.wake()).toMatchObject({ outcome: "disabled" });
    const ended = await woken({ endAt: new Date(midnight + step).toISOString() });
    await ended.advance(step - 1_000);
    expect(await ended.wake()).toMatchObject({ outcome: "nothing-due" });
    const deleted = await woken();
    await deleted.advance(step - 1_000);
    await deleted.store.deleteSchedule("s", { ofCode: true });
    expect(await deleted.wake()).toMatchObject({ outcome: "unknown" });
    expect([...off.slept, ...ended.slept, ...deleted.slept]).toEqual([]);
  });
});

describe("what a wake decides", () => {
  test("is every time up to now and none of the next millisecond, each due at its time", async () => {
    const at = await woken({ cron: "* * * * *" });
    await at.advance(2 * minute - 1);
    expect(await at.wake()).toMatchObject({ outcome: "done", occurrences: 1 });
    expect(await at.minutes()).toEqual([1]);
    const [row] = at.store.tables.inStates("SUCCESS");
    expect(row?.dueAt).toBe(midnight + minute);
    expect(at.row().nextAt).toBe(midnight + 2 * minute + scheduleLimits.ruleGraceMs);
  });

  test("leaves nothing to look at after the last time, and no message to send", async () => {
    const at = await woken({ endAt: new Date(midnight + step + 1).toISOString() });
    await at.advance(step);
    expect(await at.wake()).toMatchObject({ outcome: "done", occurrences: 1 });
    expect(at.row().nextAt).toBeNull();
    expect([...at.store.tables.outbox.values()]).toEqual([]);
  });

  test("hands off only what is due now: a paced job of the next millisecond waits for the relay", async () => {
    const at = await woken({ misfire: { all: { pace: "1s" } } });
    at.respec({ misfire: { ...at.row().spec.misfire, paceMs: 1 } });
    await at.advance(hour);
    expect(await at.wake()).toMatchObject({ occurrences: 12, jobs: [] });
    expect(at.store.tables.inStates("PENDING").map((row) => row.dueAt - at.now())).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ]);
  });

  test("is one page for each version, as many as a tick has rounds; the next wake goes on", async () => {
    for (let edit = 0; edit < 12; edit += 1) {
      await at.advance(step);
      await at.edit({ misfire: edit % 2 === 0 ? "skip" : "latest" });
    }
    await at.advance(step);
    const first = Array.from({ length: passLimits.tickRoundsMax }, (_, n) => 5 * (n + 1));
    expect(await at.wake()).toMatchObject({ outcome: "done", occurrences: 10 });
    expect(await at.minutes()).toEqual(first);
    expect(await at.wake()).toMatchObject({ outcome: "done", occurrences: 3 });
    expect(await at.minutes()).toEqual([...first, 55, 60, 65]);
  });

  test("is nothing with older tz data than its times were computed with, and the lock is free again", async () => {
    at.respec({ timezone: "Asia/Seoul", tzVersion: "2999z" });
    await at.advance(step);
    await expect(at.wake()).rejects.toThrow('schedule "s": its times were computed with tz data 2999z');
    expect(at.locks.items.get(scheduleLock("s"))?.owner).toBeNull();
    expect(await at.minutes()).toEqual([]);
  });
});

function fail(): never {
  throw new Error("nothing there");
}
