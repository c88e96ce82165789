import { describe, expect, test } from "vitest";
import { defineSchedule } from "../../src/core/define/define-schedule.ts";
import { scheduleLimits } from "../../src/core/ports/schedule-limits.ts";
import type { Ports, Store } from "../../src/core/ports/ports.ts";
import type { ScheduleSpec } from "../../src/core/ports/schedule.ts";
import { passLimits } from "../../src/core/scheduler/pass-limits.ts";
import { runSchedule, scheduleLock } from "../../src/core/scheduler/run-schedule.ts";
import { createMemoryLockStore } from "../../src/testing/memory-lock-store.ts";
import { hour, midnight, minute, stage, work } from "./stage.ts";

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
  const calls: string[] = [];
  const locks = createMemoryLockStore();
  const clock = {
    elapsedMs: () => at.now(),
    sleep: (ms: number) => (slept.push(ms), at.advance(ms)),
    after: () => () => undefined,
  };
  const counted = (name: "scheduleFacts" | "plan"): void => {
    const real = at.store[name] as (...all: unknown[]) => unknown;
    Object.assign(store, { [name]: (...all: unknown[]) => (calls.push(name), real(...all)) });
  };
  const store: Store = { ...at.store };
  counted("scheduleFacts");
  counted("plan");
  const ports: Ports = { ...at.ports, store, locks, clock };
  const options = { id: "s", owner: "task", stage: "test", onLockOutage: "postgres" } as const;
  const { signal } = new AbortController();
  return {
    ...at,
    ports,
    locks,
    slept,
    calls,
    wake: (more: { id?: string; lockLeaseMs?: number } = {}, own: Partial<Ports> = {}) =>
      runSchedule({ ...ports, ...own }, at.definitions, { ...options, signal, ...more }),
    edit: (more: object) => at.store.installSchedules([ruled(more).spec("test", "test")]),
    row: () => at.store.tables.schedules.row("s"),
    respec: (spec: Partial<ScheduleSpec>) => {
      const row = at.store.tables.schedules.row("s");
      at.store.tables.schedules.set("s", { ...row, spec: { ...row.spec, ...spec } });
    },
    minutes: async () => (await at.ledger("s")).map((row) => (row.nominalAt - midnight) / minute),
  };
}

/** The facts of the first questions, and then none: the schedule is gone from there on. */
const goneAfter = (store: Store, times: number): Store => {
  let asked = 0;
  return { ...store, scheduleFacts: async (id) => (++asked <= times ? store.scheduleFacts(id) : null) };
};

describe("a wake before its time", () => {
  test.each([
    [scheduleLimits.ruleEarlyMs + 1, [], "nothing-due"],
    [scheduleLimits.ruleEarlyMs, [scheduleLimits.ruleEarlyMs + 1], "done"],
    [1, [2], "done"],
    [0, [], "done"],
    [-1, [], "done"],
  ])("by %d ms sleeps %j", async (earlyMs, slept, outcome) => {
    const at = await woken();
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

  test("finds a schedule unknown that was gone when it woke", async () => {
    const at = await woken();
    await at.advance(step - 1_000);
    const store = goneAfter(at.store, 1);
    expect(await at.wake({}, { store })).toMatchObject({ outcome: "unknown", occurrences: 0 });
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

  test("is written only when there is something: the facts are read once", async () => {
    const at = await woken();
    await at.advance(minute);
    expect(await at.wake()).toMatchObject({ outcome: "nothing-due" });
    expect(at.calls).toEqual(["scheduleFacts"]);
    await at.advance(step);
    await at.wake();
    expect(at.calls).toEqual(["scheduleFacts", "scheduleFacts", "plan"]);
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
    const at = await woken();
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

  test("goes on behind a version that was off, and stops when the schedule is gone", async () => {
    const lived = async () => {
      const at = await woken();
      for (const enabled of [false, true]) {
        await at.advance(2 * step);
        await at.edit({ enabled });
      }
      await at.advance(2 * step);
      return at;
    };
    const at = await lived();
    expect(await at.wake()).toMatchObject({ outcome: "done", occurrences: 4 });
    expect(await at.minutes()).toEqual([5, 10, 25, 30]);
    const gone = await lived();
    const store = goneAfter(gone.store, 2);
    expect(await gone.wake({}, { store })).toMatchObject({ occurrences: 2 });
  });

  test("is nothing with older tz data than its times were computed with, and the lock is free again", async () => {
    const at = await woken();
    at.respec({ timezone: "Asia/Seoul", tzVersion: "2999z" });
    await at.advance(step);
    await expect(at.wake()).rejects.toThrow('schedule "s": its times were computed with tz data 2999z');
    expect(at.locks.items.get(scheduleLock("s"))?.owner).toBeNull();
    expect(await at.minutes()).toEqual([]);
  });
});

test("the lock is counted for the kind of the schedule's job, and has the lease that was asked for", async () => {
  const at = await woken();
  await at.wake();
  await at.wake({ lockLeaseMs: 45_000 });
  await at.wake({ id: "none" });
  const one = (dimensions: object) => ({ name: "scheduler.lock.acquired", value: 1, dimensions });
  const counted = at.metrics.filter(({ name }) => name === "scheduler.lock.acquired");
  expect(counted).toStrictEqual([one({ job: "work" }), one({ job: "work" }), one({})]);
  expect(at.locks.items.get(scheduleLock("s"))?.leaseMs).toBe(45_000);
  expect(at.locks.items.get(scheduleLock("none"))?.leaseMs).toBe(30_000);
});
