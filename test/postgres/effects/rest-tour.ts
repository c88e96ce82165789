import type { Operations } from "../../../src/core/ports/operations.ts";
import type { Claimed, Store } from "../../../src/core/ports/ports.ts";
import { jobSorts } from "../../../src/core/ports/job-search.ts";
import type { JobSearch } from "../../../src/core/ports/job-search.ts";
import type { JobId } from "../../../src/core/job/job.ts";
import { states } from "../../../src/core/job/state.ts";
import type { TestClock } from "../../../src/adapters/postgres/test-clock.ts";
import { aPause } from "../../support/pause.ts";
import { aJob, failure, minute, settlementOf, settleOptions } from "../../contract/store/fixture.ts";

interface World {
  readonly store: Store;
  readonly operations: Operations;
  readonly clock: TestClock;
}

/** What the tours leave out: looks at every state by every search, steering of jobs that can be steered, and the end of retention. */
export async function restTour(world: World, tag: string): Promise<void> {
  const jobs = await everyState(world, tag);
  await searches(world, tag, jobs);
  await steering(world, tag, jobs);
  await bulk(world, tag);
  await lostMessages(world, tag);
  await figures(world, tag);
  await retention(world);
}

const kindOf = (tag: string, n: number): string => `${tag}-${n % 3}`;

async function claimed(store: Store, ids: readonly JobId[], worker = "worker-2"): Promise<readonly Claimed[]> {
  const looked = await store.peek(ids);
  const messages = looked.map(({ jobId, generation }) => ({ jobId, generation, trace: "t" }));
  return (await store.claim(messages, { worker, alone: false })).claimed;
}

/** Of three kinds in two lanes: waiting, out, running, retrying, ended each way, held for a slot, expired. */
async function everyState({ store, clock }: World, tag: string): Promise<readonly JobId[]> {
  await store.installSlots([{ key: `cap:${tag}`, size: 1, onRefusal: "hold", reason: "slot" }]);
  const made = Array.from({ length: 24 }, (_, n) =>
    aJob({
      kind: kindOf(tag, n),
      key: `${tag}-key-${n}`,
      lane: n % 2 === 0 ? "default" : "mail",
      payload: { n, who: `person-${n % 4}` },
      delayMs: n >= 20 ? n * minute : 0,
      slotKeys: n >= 16 && n < 20 ? [`cap:${tag}`] : [],
      retentionMs: (1 + (n % 2)) * minute,
      ...(n === 15 ? { expiresAt: 0 } : {}),
    }),
  );
  const ids = (await store.insert(made)).results.map(({ id }) => id);
  await clock.advance(1_000);
  const held = await claimed(store, ids.slice(0, 20));
  const running = held.filter(({ state }) => state === "RUNNING");
  const outcomes = [{}, failure, { ...failure, to: "FAILED" }, { to: "QUEUED", interruptions: 1 }, null] as const;
  const settled = running.flatMap((job, n) => {
    const outcome = outcomes[n % outcomes.length];
    return outcome === null || outcome === undefined ? [] : [settlementOf(job, outcome)];
  });
  await clock.advance(1_000);
  await store.heartbeat(
    running.map((job, n) => ({ ...job, progress: n / 20 })),
    "worker-2",
  );
  await store.settle(settled, settleOptions);
  await store.cancel(ids.slice(20, 21));
  await store.cancel(running.slice(4, 5).map(({ jobId }) => jobId));
  return ids;
}

async function searches({ operations, store }: World, tag: string, ids: readonly JobId[]): Promise<void> {
  const now = await store.now();
  const one: JobSearch[] = [
    ...states.map((state) => ({ states: [state] })),
    { states: ["FAILED", "SUCCESS"], kind: kindOf(tag, 1) },
    { kinds: [kindOf(tag, 0), kindOf(tag, 2)], lane: "mail" },
    { key: `${tag}-key-3` },
    { words: [tag, "key-1"] },
    { errorCode: failure.errorCode ?? "none" },
    { worker: "worker-2" },
    { held: true },
    { dueFrom: now, dueTo: now + 22 * minute },
    { payload: [{ path: ["who"], value: "person-2" }] },
    { taken: true },
    ...(ids[2] === undefined ? [] : [{ id: ids[2] }]),
  ];
  for (const search of [{}, ...one]) {
    for (const sort of jobSorts) {
      const first = await operations.jobs({ search, sort, cursor: null, limit: 3 });
      if (first.cursor !== null) await operations.jobs({ search, sort, cursor: first.cursor, limit: 50 });
    }
    await operations.count(search, 5);
    await operations.count(search, 100);
  }
  await operations.jobsById(ids);
  for (const id of ids) {
    await store.job(id);
    await operations.attempt(id, 1);
    await operations.waiting(id, 3);
  }
  for (const kind of [null, kindOf(tag, 1)]) await operations.failureGroups({ kind });
  await operations.health(1_000);
  await operations.slots("cap:");
  await operations.slot(`cap:${tag}`);
  await operations.workers(now - minute);
  await operations.live(5);
}

async function steering({ operations, store, clock }: World, tag: string, ids: readonly JobId[]): Promise<void> {
  await operations.runNow(ids.slice(18), { caller: "ada" });
  const now = await store.now();
  await operations.retryPaced(ids, { dueAt: now, paceMs: 1_000, caller: "ada" });
  await operations.pauseLane("mail", aPause);
  const out = (await store.peek(ids)).map(({ jobId, generation }) => ({ jobId, generation, trace: "t" }));
  await operations.holdPaused(out);
  await operations.lanePauses();
  await operations.isPaused("mail");
  await operations.unholdPaused("mail", 3);
  await operations.pauseLane("mail", null);
  await operations.unholdOpen(10);
  await clock.advance(minute);
  await store.installFence({ name: tag, token: 7 });
  await store.passed({ name: tag, token: 7 });
  await store.passed({ name: tag, token: 6 });
  await clock.advance(10_000);
  await operations.lastPass(tag);
  await operations.fences();
  const again = await claimed(store, ids, "worker-3");
  await store.freeSlots(again);
  await store.retry(ids.slice(0, 12), { caller: "ada" });
  await store.wake({ slotKeys: "all", limit: 2 });
  await store.relay({ limit: 2, lane: "mail" });
}

async function bulk({ operations, clock }: World, tag: string): Promise<void> {
  const matched = { count: 3, isMore: false };
  for (const canary of [true, false]) {
    const search = { states: ["FAILED"] as const, kind: kindOf(tag, 2) };
    const made = await operations.createBulk({ action: "retry", search, caller: "ada", matched, paceMs: 500, canary });
    const taken = await operations.takeBulk("one");
    await operations.takeBulk("two");
    const { ids, next } = await operations.bulkPage(taken ?? made, 2);
    await operations.sendCanaries(made.id, "one", { jobs: ids, takenAlong: 1 });
    await clock.advance(minute);
    await operations.takeBulk("two");
    await operations.advanceBulk(made.id, "two", { next, changed: 2, takenAlong: 1, refused: 1 });
    await operations.advanceBulk(made.id, "three", { next: null, changed: 9, takenAlong: 9, refused: 9 });
    await operations.advanceBackfill(made.id, "two", { changed: 1, refused: 1, isLast: !canary });
    await operations.bulks({ limit: 2 });
    await operations.bulks({ id: made.id, limit: 1 });
    await operations.stopBulk(made.id);
  }
}

async function lostMessages({ store, clock }: World, tag: string): Promise<void> {
  const made = [0, 1, 2].map((n) => aJob({ key: `${tag}-lost-${n}`, lane: "quiet", delayMs: n * 1_000 }));
  const { aftermath } = await store.insert(made);
  await store.countNotYetDue({ lane: "quiet", sinceMs: 1_000, limit: 2 });
  await store.confirm(aftermath.outbox.map(({ id }) => ({ id, failed: [] })));
  for (const ms of [1_000, 1_000, minute]) {
    await clock.advance(ms);
    await store.countNotYetDue({ lane: "quiet", sinceMs: 1_000, limit: 10 });
    await store.requeueLost({ lane: "quiet", evidence: "queue-empty", olderThanMs: 2_000, limit: 2 });
    await store.requeueLost({ lane: "default", evidence: "overtaken", olderThanMs: 2_000, limit: 5 });
  }
  await store.lapsedLeases({ limit: 3 });
  await store.rescue({ limit: 100, interruptionsMax: 1 });
}

async function figures({ operations, store }: World, tag: string): Promise<void> {
  const now = await store.now();
  await operations.minutes({ since: now - 60 * minute, kinds: null, lane: null });
  await operations.minutes({ since: now - 5 * minute, kinds: [kindOf(tag, 1)], lane: "default" });
  const hour = 60 * minute;
  const periods = { now: { from: now - hour, to: now + hour }, before: { from: now - 2 * hour, to: now - hour } };
  await operations.kindHours({ ...periods, kind: null, lane: null });
  await operations.kindHours({ ...periods, kind: kindOf(tag, 1), lane: "mail" });
  await operations.kindTotals();
  await operations.failures();
  const schedules = ["tour", tag, `${tag}-ahead`, `${tag}-gone`];
  await operations.latestOccurrences(schedules, 2);
  await operations.failingSince(schedules, 30);
  for (const sort of ["failing", "id", "next"] as const)
    await operations.searchSchedules({ search: {}, sort, offset: 1, limit: 3 });
  const runs = await store.runs({ limit: 10 });
  for (const { id } of runs) {
    await operations.runMap(id);
    await store.tasks(id, { limit: 2 });
  }
  for (const id of schedules) await store.occurrences(id, 2);
  for (const id of schedules) await store.scheduleFacts(id);
}

/** At the end of one retention, past it, and long past every one. */
async function retention({ store, clock }: World): Promise<void> {
  for (const ms of [minute, 1, minute, 40 * 24 * 60 * minute]) {
    await clock.advance(ms);
    await store.prune({ limit: 1_000 });
  }
}
