import { describe, expect, test } from "vitest";
import { defineJob } from "../../src/define/define-job.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { deliveryLimits } from "../../src/machine/delivery-limits.ts";
import { lockLimits } from "../../src/machine/lock.ts";
import { passLimits } from "../../src/schedule/pass-limits.ts";
import { pass, runPasses, schedulerLock, type PassOptions, type PassReport } from "../../src/schedule/pass.ts";
import { FenceLost } from "../../src/machine/fence.ts";
import {
  jobOf,
  lane,
  registryFor,
  shop,
  sum,
  world,
  type World,
  down,
  withStore,
  withQueue,
  withLocks,
} from "./world.ts";

const hello = defineJob({ id: "hello", run: () => {} });
const registry = registryFor();
const leaseMs = lockLimits.lockLeaseMs;
const item = (owner: string | null, fence: number) => ({ owner, rvn: "r", fence, leaseMs, silentMs: 0, seenAt: null });
const thirdMs = leaseMs / contractLimits.heartbeatsPerLease;

const options = (over: Partial<PassOptions> = {}): PassOptions => ({
  owner: "task-1",
  untilMs: passLimits.passMs,
  onLockOutage: "postgres",
  signal: new AbortController().signal,
  ...over,
});

/** Runs to its end while time passes. */
async function runAll(ports: World, over: Partial<PassOptions> = {}): Promise<PassReport> {
  const running = runPasses(ports, registry, options(over));
  const ended = new AbortController();
  running.finally(() => ended.abort()).catch(() => {});
  while (!ended.signal.aborted) await ports.clock.advance(1_000);
  return running;
}

test.each([
  [defineJob({ id: "plain", run: () => {} }), ["circuits", "replace", "turns"]],
  [defineJob({ id: "circuit", circuit: { on: "*" }, run: () => {} }), ["replace", "turns"]],
  [defineJob({ id: "budget", retry: { maxAttempts: 3, budget: 0.1 }, run: () => {} }), ["replace", "turns"]],
  [defineJob({ id: "fair", fairness: { key: () => "ada" }, run: () => {} }), ["circuits", "replace"]],
])(
  "a pass that finds nothing rests what no definition asks for, and what only a crash leaves: $0.id",
  async (job, resting) => {
    const rests = new Map<string, number>();
    await pass(world(), registryFor(job), { signal: new AbortController().signal, rests });
    expect([...rests.keys()].filter((step) => /^(circuits|replace|turns)$/.test(step)).toSorted()).toEqual(resting);
  },
);

describe("one scheduler task", () => {
  test("repeats passes until its time is over, then gives the lock back", async () => {
    const ports = world();
    const report = await runAll(ports);
    expect(report).toMatchObject({ outcome: "done", heldBy: null });
    expect(report.passes).toBe(passLimits.passMs / passLimits.passIntervalMs);
    expect(ports.locks.items.get(schedulerLock)).toMatchObject({ owner: null });
    expect(ports.clock.pending()).toBe(0);
  });

  test("ends early at a signal, and gives the lock back", async () => {
    const ports = world();
    const stop = new AbortController();
    const running = runPasses(ports, registry, options({ signal: stop.signal }));
    await ports.clock.advance(10_000);
    stop.abort();
    await ports.clock.settle();
    expect(await running).toMatchObject({ outcome: "done" });
    expect(ports.clock.elapsedMs()).toBe(10_000);
    expect(ports.locks.items.get(schedulerLock)?.owner).toBeNull();
  });

  test("a second task learns by whom the lock is held, and runs no pass", async () => {
    const ports = world();
    const first = runPasses(ports, registry, options());
    const second = runPasses(ports, registry, options({ owner: "task-2" }));
    await ports.clock.advance(thirdMs + leaseMs / lockLimits.lockLooksPerLease);
    const report = await second;
    expect(report).toMatchObject({ outcome: "held", passes: 0 });
    expect(report.heldBy).toContain("task-1");
    expect(sum(ports.measured, "scheduler.lock.failed")).toBe(1);
    await ports.clock.advance(passLimits.passMs);
    expect(await first).toMatchObject({ outcome: "done" });
  });

  test("passes its crash points in the order the proof expects", async () => {
    const ports = world();
    await runAll(ports, { untilMs: 1 });
    expect(ports.passed.filter((name) => !name.startsWith("relay") && !name.startsWith("tick"))).toEqual([
      "lock.acquired",
      "fence.installed",
      "lock.beforeRelease",
    ]);
  });
});

describe("the steps of a pass", () => {
  test.each([
    { name: "whose steps succeed is noted, so that silence shows", faults: {}, notes: [schedulerLock] },
    { name: "with a step that fails is not noted", faults: { prune: down }, notes: [] },
  ])("a pass $name", async ({ faults, notes }) => {
    const noted: string[] = [];
    const passed = async ({ name }: { readonly name: string }) => void noted.push(name);
    await runAll(withStore(() => ({ ...faults, passed })));
    expect([...new Set(noted)]).toEqual(notes);
  });

  test("a step that fails does not stop the others", async () => {
    const faulty = withStore(() => ({ dueSchedules: down, rescue: down, prune: down }));
    const { world: ports, enqueue, registry: known } = await shop([hello], faulty);
    const id = await enqueue(hello, undefined, { delayMs: contractLimits.dispatchWindowMs + 1_000 });
    await ports.clock.advance(2_000);
    const counts = await pass(ports, known, options());
    expect(counts).toMatchObject({ "tick.failed": 1, "rescue.failed": 1, "prune.failed": 1, relayed: 1, woken: 0 });
    expect((await jobOf(ports, id)).state).toBe("QUEUED");
    expect(sum(ports.measured, "scheduler.step.failed")).toBe(3);
  });

  test("a lane whose queue does not answer does not keep another lane's lost messages", async () => {
    const lanes = ["a", "b", "c"].map((lane) => defineJob({ id: `hello-${lane}`, lane, run: () => {} }));
    const broken = withQueue((queue) => ({ depth: (lane) => (lane === "b" ? down() : queue.depth(lane)) }));
    const { world: ports, enqueue, registry: known } = await shop(lanes, broken);
    const ids = [];
    for (const job of lanes) ids.push(await enqueue(job, undefined));
    for (const lane of ["a", "b", "c"])
      ports.queue.delete(
        lane,
        ports.queue.receive(lane, 10).map((each) => each.messageId),
      );
    const observations = new Map<string, number>();
    await pass(ports, known, { ...options(), observations });
    await ports.clock.advance(deliveryLimits.emptyQueueMs);
    expect(await pass(ports, known, { ...options(), observations })).toMatchObject({
      requeued: 2,
      "requeue.failed": 1,
    });
    const states = await Promise.all(ids.map(async (id) => (await jobOf(ports, id)).state));
    expect(states).toEqual(["PENDING", "QUEUED", "PENDING"]);
  });

  test("a due row is given more time while its queue has delayed messages, of which its own may be one", async () => {
    const depth = () => Promise.resolve({ visible: 0, inFlight: 0, delayed: 1 });
    const ports = withQueue(() => ({ depth }));
    const { enqueue, registry: known } = await shop([hello], ports);
    const id = await enqueue(hello, undefined);
    const observations = new Map<string, number>();
    const stateAfter = async (ms: number): Promise<string> => {
      await ports.clock.advance(ms);
      await pass(ports, known, { ...options(), observations });
      return (await jobOf(ports, id)).state;
    };
    expect(await stateAfter(0)).toBe("QUEUED");
    expect(await stateAfter(deliveryLimits.unclaimedMs)).toBe("QUEUED");
    expect(await stateAfter(deliveryLimits.lateMessageMs - deliveryLimits.unclaimedMs - 1_000)).toBe("QUEUED");
    expect(await stateAfter(deliveryLimits.unclaimedMs)).toBe("PENDING");
  });

  test("but not for delayed messages that belong to rows that are not due yet", async () => {
    const { world: ports, enqueue, registry: known } = await shop([hello]);
    const id = await enqueue(hello, undefined);
    for (let n = 0; n < 3; n += 1) await enqueue(hello, undefined, { delayMs: 4 * 60_000 });
    ports.queue.delete(lane, ["m1"]);
    const observations = new Map<string, number>();
    await pass(ports, known, { ...options(), observations });
    await ports.clock.advance(deliveryLimits.unclaimedMs);
    await pass(ports, known, { ...options(), observations });
    expect((await jobOf(ports, id)).state).toBe("PENDING");
  });

  test("a message that is lost at the turn of two scheduler tasks is found by the second", async () => {
    // A worker received the message and died: the queue holds it, and does not show it.
    const depth = () => Promise.resolve({ visible: 0, inFlight: 1, delayed: 0 });
    const ports = withQueue(() => ({ depth }));
    const { enqueue, registry: known } = await shop([hello], ports);
    const id = await enqueue(hello, undefined);
    const half = { ...options(), untilMs: deliveryLimits.unclaimedMs / 2 };
    const first = runPasses(ports, known, half);
    await ports.clock.advance(half.untilMs + 2_000);
    await first;
    await ports.clock.advance(5_000);
    const second = runPasses(ports, known, half);
    await ports.clock.advance(half.untilMs + 2_000);
    expect((await second).counts).toMatchObject({ requeued: 1 });
    expect((await jobOf(ports, id)).generation).toBeGreaterThan(1);
  });

  test("a lost fence stops all that follow", async () => {
    const called: string[] = [];
    const ports = withStore(() => ({
      relay: () => Promise.reject(new FenceLost("newer")),
      rescue: (...call) => {
        called.push("rescue");
        return world().store.rescue(...call);
      },
    }));
    await expect(pass(ports, registry, options())).rejects.toBeInstanceOf(FenceLost);
    expect(called).toEqual([]);
  });

  test("a task whose fence was lost says so and touches nothing of the new holder", async () => {
    const ports = world();
    const running = runPasses(ports, registry, options());
    await ports.clock.advance(2_000);
    await ports.store.installFence({ name: schedulerLock, token: 77 });
    ports.locks.items.set(schedulerLock, item("newer", 77));
    await ports.clock.advance(2_000);
    expect(await running).toMatchObject({ outcome: "fence-lost" });
    expect(ports.locks.items.get(schedulerLock)).toMatchObject({ owner: "newer", fence: 77 });
  });

  test("a task whose lock was taken over stops at its next heartbeat", async () => {
    const ports = world();
    const running = runPasses(ports, registry, options());
    await ports.clock.advance(2_000);
    ports.locks.items.set(schedulerLock, item("newer", 2));
    await ports.clock.advance(thirdMs);
    expect(await running).toMatchObject({ outcome: "fence-lost" });
  });
});

describe("a lock table that was wiped or restored", () => {
  test("has its fence raised above the one in force, and the lock is kept and released under it", async () => {
    const ports = world();
    await ports.store.installFence({ name: schedulerLock, token: 40 });
    const report = await runAll(ports);
    expect(report).toMatchObject({ outcome: "done", passes: passLimits.passMs / passLimits.passIntervalMs });
    expect(ports.locks.items.get(schedulerLock)).toMatchObject({ owner: null, fence: 41 });
    expect(await ports.store.installFence({ name: schedulerLock, token: 1 })).toBe(41);
  });

  test("gives no token twice: an equal one in force is another holder's", async () => {
    const ports = world();
    await ports.store.installFence({ name: schedulerLock, token: 40 });
    ports.locks.items.set(schedulerLock, item(null, 39));
    expect(await runAll(ports)).toMatchObject({ outcome: "done" });
    expect(ports.locks.items.get(schedulerLock)).toMatchObject({ owner: null, fence: 41 });
  });

  test("a holder that cannot raise it leaves the lock to the newer one", async () => {
    const ports = withLocks(() => ({ raise: async () => false }));
    await ports.store.installFence({ name: schedulerLock, token: 40 });
    expect(await runAll(ports)).toMatchObject({ outcome: "held", heldBy: "a newer holder", passes: 0 });
    expect(ports.clock.pending()).toBe(0);
  });

  test.each([1, 9])("a lock store that fails %i times when it is to be raised: three are an outage", async (times) => {
    let left = times;
    const ports = withLocks(({ raise }) => ({ raise: (...of) => ((left -= 1) < 0 ? raise(...of) : down()) }));
    await ports.store.installFence({ name: schedulerLock, token: 40 });
    expect(await runAll(ports)).toMatchObject({ outcome: "done" });
    expect(sum(ports.measured, "scheduler.lock.outage")).toBe(times < 3 ? 0 : 1);
  });
});

describe("when something is away", () => {
  test("an outage of the lock store lets the lock row in Postgres stand in", async () => {
    const ports = withLocks(() => ({ read: down, take: down, renew: down, release: down }));
    const report = await runAll(ports);
    expect(report).toMatchObject({ outcome: "done" });
    expect(report.passes).toBeGreaterThan(0);
    expect(sum(ports.measured, "scheduler.lock.outage")).toBe(1);
    expect(await ports.store.takeFallback(schedulerLock, "next", leaseMs)).toMatchObject({ fence: expect.any(Number) });
  });

  test("also when the task's time is shorter than the wait for the lock store: it makes one pass", async () => {
    const ports = withLocks(() => ({ read: down, take: down }));
    expect(await runAll(ports, { untilMs: lockLimits.lockOutageMs / 2 })).toMatchObject({ outcome: "done", passes: 1 });
  });

  test("of two tasks in an outage one runs", async () => {
    const ports = withLocks(() => ({ read: down, take: down }));
    const both = [options(), options({ owner: "task-2" })].map((each) => runPasses(ports, registry, each));
    await ports.clock.advance(lockLimits.lockOutageMs + passLimits.passMs);
    expect((await Promise.all(both)).map((report) => report.outcome).toSorted()).toEqual(["done", "held"]);
  });

  test("or the outage is skipped, when the stage prefers that, and no pass runs", async () => {
    const ports = withLocks(() => ({ read: down, take: down }));
    expect(await runAll(ports, { onLockOutage: "skip" })).toMatchObject({ outcome: "lock-outage", passes: 0 });
    expect(ports.clock.elapsedMs()).toBeLessThanOrEqual(lockLimits.lockOutageMs + 1_000);
  });

  test("a database that is away when the fence is to be installed leaves no lock behind", async () => {
    const ports = withStore(() => ({ installFence: down }));
    await expect(runAll(ports)).rejects.toThrow("down");
    expect(ports.locks.items.get(schedulerLock)?.owner).toBeNull();
    expect(ports.clock.pending()).toBe(0);
  });
});
