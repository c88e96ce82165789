import type { Claimed } from "../../../src/machine/store.ts";
import type { TestStore } from "../../support/looks.ts";
import type { JobId } from "../../../src/machine/job.ts";
import { readLanes } from "../../../src/insight/lanes.ts";
import { readFences, readPassed } from "../../../src/insight/locks.ts";
import type { World } from "./world.ts";
import { aPause } from "../../support/pause.ts";
import { aJob, failure, minute, settlementOf, settleOptions } from "../../contract/store/fixture.ts";
import { findIds } from "../../../src/insight/find-jobs.ts";
import {
  advanceBackfill,
  advanceBulk,
  beginBulk,
  nextBulk,
  readBulks,
  chooseStep,
  readUnretried,
  sendStep,
  stopBulk,
} from "../../../src/insight/bulk.ts";

/** What the tours leave out: jobs in every state, steering of those that can be steered, lost messages. */
export async function restTour(world: World, tag: string): Promise<void> {
  const jobs = await everyState(world, tag);
  await steering(world, tag, jobs);
  await bulk(world, tag);
  await lostMessages(world, tag);
}

const kindOf = (tag: string, n: number): string => `${tag}-${n % 3}`;

async function claimed(store: TestStore, ids: readonly JobId[], worker = "worker-2"): Promise<readonly Claimed[]> {
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

async function steering({ insight, store, clock }: World, tag: string, ids: readonly JobId[]): Promise<void> {
  await store.runNow(ids.slice(18), { caller: "ada" });
  const now = await store.now();
  await store.retry(ids, { dueAt: now, paceMs: 1_000, caller: "ada" });
  await store.pauseLane("mail", aPause);
  const out = (await store.peek(ids)).map(({ jobId, generation }) => ({ jobId, generation, trace: "t" }));
  await store.holdClosed(out);
  await insight.run(readLanes, {});
  await store.closed("mail");
  await store.unholdPaused("mail", 3);
  await store.pauseLane("mail", null);
  await store.unholdOpen(10);
  await clock.advance(minute);
  await store.installFence({ name: tag, token: 7 });
  await store.passed({ name: tag, token: 7 });
  await store.passed({ name: tag, token: 6 });
  await clock.advance(10_000);
  await insight.run(readPassed, tag);
  await insight.run(readFences, {});
  const again = await claimed(store, ids, "worker-3");
  await store.freeSlots(again);
  await store.retry(ids.slice(0, 12), { caller: "ada" });
  await store.wake({ slotKeys: "all", limit: 2 });
  await store.relay({ limit: 2, lane: "mail" });
}

async function bulk({ insight, clock }: World, tag: string): Promise<void> {
  const matched = { count: 3, isMore: false };
  for (const steps of [[1, 2], []]) {
    const search = { states: ["FAILED"] as const, kind: kindOf(tag, 2) };
    const made = await beginBulk(insight, { action: "retry", search, caller: "ada", matched, paceMs: 500, steps });
    const taken = await nextBulk(insight, "one");
    await nextBulk(insight, "two");
    const { ids, next } = await findIds(insight, taken ?? made, 2);
    await insight.run(chooseStep, { id: made.id, owner: "one", jobs: ids, size: 1_000 });
    await insight.run(readUnretried, { jobs: ids, before: 0 });
    await insight.run(sendStep, { id: made.id, owner: "one", changed: 2, takenAlong: 1, refused: 1 });
    await clock.advance(minute);
    await nextBulk(insight, "two");
    await insight.run(advanceBulk, { id: made.id, owner: "two", next, changed: 2, takenAlong: 1, refused: 1 });
    await insight.run(advanceBulk, { id: made.id, owner: "three", next: null, changed: 9, takenAlong: 9, refused: 9 });
    await insight.run(advanceBackfill, {
      id: made.id,
      owner: "two",
      changed: 1,
      refused: 1,
      isLast: steps.length === 0,
    });
    await insight.run(readBulks, { limit: 2 });
    await insight.run(readBulks, { id: made.id, limit: 1 });
    await insight.run(stopBulk, made.id);
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

/** At the end of one retention, past it, and long past every one. */
export async function retention({ store, clock }: World): Promise<void> {
  for (const ms of [minute, 1, minute, 40 * 24 * 60 * minute]) {
    await clock.advance(ms);
    await store.prune({ limit: 1_000 });
  }
}
