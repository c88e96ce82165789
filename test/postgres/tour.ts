import type { TestClock } from "../../src/postgres/test-clock.ts";
import type { JobId, NewJob } from "../../src/machine/job.ts";
import { deliveryLimits } from "../../src/machine/delivery-limits.ts";
import type { TestStore } from "../support/looks.ts";
import type { ScheduleSpec } from "../../src/machine/schedule.ts";
import { claim, insert, newerGraph, ofPages, runs } from "./run-tour.ts";
import { aSpec, occurrenceAt } from "../contract/store/schedule-fixture.ts";
import {
  aJob,
  failure,
  minute,
  outboxIds,
  settlementOf,
  settleOptions,
  dispatchWindowMs,
  settleAll,
} from "../contract/store/fixture.ts";

/** Uses every verb of the store once or more, so that every statement runs with values of its daily life. */
export async function tour(store: TestStore, clock: TestClock, tag: string): Promise<void> {
  await dispatches(store, clock, tag);
  await slots(store, clock, tag);
  await endings(store, clock, tag);
  await schedules(store, clock, tag);
  await scheduleControl(store, clock, tag);
  await prematerialized(store, clock, tag);
  await runs(store, tag);
  await locks(store, tag);
  await reads(store);
  await replaced(store);
  await newerGraph(store, tag);
}

const ten = (over: Partial<NewJob> = {}): NewJob[] => Array.from({ length: 10 }, () => aJob(over));

async function dispatches(store: TestStore, clock: TestClock, tag: string): Promise<void> {
  const keyed = ten().map((job, i) => ({ ...job, key: `${tag}-${i}` }));
  await insert(store, keyed);
  await insert(store, keyed);
  await store.insert(ten({ delayMs: dispatchWindowMs + minute }));
  await clock.advance(2 * minute);
  const relayed = await store.relay({ limit: 10 });
  await store.keep(relayed.map((batch) => ({ ...batch, unsent: batch.messages.slice(1).map((m) => m.jobId) })));
  await store.confirm(relayed.map(({ id, messages }) => ({ id, failed: messages.slice(1, 2).map((m) => m.jobId) })));
  await clock.advance(minute);
  await store.reopen({ olderThanMs: deliveryLimits.outboxOpenMs, limit: 20, messagesMax: 1_000 });
  await store.requeueLost({ lane: "default", evidence: "overtaken", olderThanMs: minute, limit: 10 });
  await store.passed({ name: "tour", token: 0 });
  await store.saveQueueObservations([{ lane: "default", emptyMs: minute }]);
  await store.queueObservations({ maxAgeMs: minute });
  await store.countNotYetDue({ lane: "default", sinceMs: minute, limit: 10 });
  await store.requeueLost({ lane: "quiet", evidence: "queue-empty", olderThanMs: minute, limit: 10 });
}

async function slots(store: TestStore, clock: TestClock, tag: string): Promise<void> {
  const cap = `cap:tour-${tag}`;
  await store.installSlots([
    { key: cap, size: 3, onRefusal: "hold", reason: "slot" },
    { key: `${cap}#`, size: 1, onRefusal: "hold", reason: "slot" },
    { key: "overlap:tour", size: 1, onRefusal: "queue-one", reason: "overlap" },
  ]);
  const ids: JobId[] = [];
  for (const job of ten({ slotKeys: [cap] })) ids.push(...(await insert(store, [job])));
  const held = (await claim(store, ids)).filter((row) => row.state === "RUNNING");
  await store.wake({ slotKeys: [cap], limit: deliveryLimits.wakeRowsMax });
  const [first, ...others] = held;
  if (first === undefined) throw new Error("three slots were free");
  await store.cancel([first.jobId]);
  await store.freeSlots([first]);
  await settleAll(store, others);
  await store.wake({ slotKeys: "all", limit: deliveryLimits.wakeRowsMax });
  const both = await insert(store, [aJob({ slotKeys: [`${cap}#a`, cap, "overlap:tour"] })]);
  await claim(store, both);
  await clock.advance(minute);
  await store.keepLeases("worker-1");
  await store.noteCause("worker-1", "it stands still");
  await store.endLeases("worker-1", "it was killed");
  for (const lane of [{}, { lane: "default" }]) await store.lapsedLeases({ limit: 100, ...lane });
  await store.rescue({ limit: 100, interruptionsMax: 20, inSameTransaction: async () => {} });
  await store.cancel(ids);
}

async function endings(store: TestStore, clock: TestClock, tag: string): Promise<void> {
  const failed = { ...failure, to: "FAILED" } as const;
  for (const over of [{}, failed]) {
    const plain = await claim(store, await insert(store, ten()));
    await settleAll(store, plain, over);
  }
  const running = await claim(store, await insert(store, ten()));
  await store.heartbeat(running, "worker-1");
  for (const job of running.slice(8)) {
    await store.extendLease(job, { worker: "worker-1", leaseMs: minute });
    await store.takeOver(job, { from: "worker-1", worker: "task-1" });
  }
  const outcomes = [{}, failure, failed, { to: "QUEUED", interruptions: 1 }] as const;
  const settlements = running.slice(0, 8).map((job, i) => settlementOf(job, outcomes[i % outcomes.length]));
  await store.settle(settlements, { ...settleOptions, inSameTransaction: async () => {} });
  await store.retry(running.map((job) => job.jobId));
  await clock.advance(minute);
  await store.rescue({ limit: 100, interruptionsMax: 20, lane: "default" });
  const [dead] = await insert(store, [aJob({ key: `${tag}-dead` })]);
  if (dead === undefined) throw new Error("one job was inserted");
  const died = [{ jobId: dead, generation: 1, trace: "" }];
  await store.returnUndelivered(died, { undeliveredMax: 3, backoffMs: minute });
  await store.quarantine("default", ["not json"]);
  await store.transaction(async (tx) => {
    await store.insert([aJob()], { tx });
  });
  await store.prune({ limit: 1_000 });
}

async function schedules(store: TestStore, clock: TestClock, tag: string): Promise<void> {
  const spec = specOf(tag);
  await store.installSchedules([spec, { ...spec, id: `${tag}-gone` }]);
  const { now } = await store.dueSchedules({ horizonMs: dispatchWindowMs, limit: 10 });
  await store.chains({ ids: [spec.id], timesMax: 100 });
  const occurrences = [0, 1, 2].map((n) =>
    occurrenceAt(now + n * minute, { localTime: `${tag}-${n}`, job: aJob({ dueAt: now + n * minute }) }),
  );
  const plan = {
    scheduleId: spec.id,
    version: 1,
    decidedUntil: now + 2 * minute,
    nextAt: now + 3 * minute,
    occurrences,
  };
  const { outbox } = (await store.plan([plan])).aftermath;
  await clock.advance(minute);
  await claim(store, outboxIds(outbox).slice(0, 1));
  await store.installSchedules([{ ...spec, overlap: "skip" }]);
}

async function scheduleControl(store: TestStore, clock: TestClock, tag: string): Promise<void> {
  const spec = { ...specOf(`${tag}-api`), app: "api" };
  await store.createSchedule(spec);
  await store.updateSchedule({ ...spec, overlap: "skip" });
  await store.pauseSchedule(spec.id, { by: "ada", reason: null, until: null });
  await store.pauseSchedule(spec.id, null);
  await clock.advance(10 * minute);
  const nominalAt = (await store.now()) - 5 * minute;
  const job = aJob({ dueAt: nominalAt, slotKeys: ["cap:tour"] });
  const occurrence = occurrenceAt(nominalAt, { localTime: `${tag}-past`, isCatchUp: true, job });
  await store.backfill(spec.id, [{ occurrence, version: 2 }], { paceMs: 1_000, slotKey: "cap:tour" });
  const found = await store.occurrencesAt(spec.id, { localTimes: [occurrence.localTime], instants: [nominalAt] });
  await store.occurrencesBetween(spec.id, nominalAt - minute, nominalAt, 10);
  const jobId = found[0]?.jobId;
  if (jobId === undefined || jobId === null) throw new Error("the past time was planned");
  await store.slotHolder(jobId, { at: nominalAt, prefix: "cap:" });
  await store.scheduleFacts(spec.id);
  await store.deleteSchedule(spec.id);
  await store.endRemovals();
  await store.cancelRemoved({ limit: 10 });
}

export const specOf = (id: string): ScheduleSpec =>
  aSpec({ id, app: "tour", expression: { form: "every", everyMs: minute } });

/** A fan-out whose targets are withdrawn by an edit and written again under their keys. */
async function prematerialized(store: TestStore, clock: TestClock, tag: string): Promise<void> {
  const nominalAt = (await store.now()) + minute;
  const spec = { ...specOf(`${tag}-ahead`), materializeBeforeMs: minute };
  const write = async (version: number): Promise<void> => {
    const occurrence = occurrenceAt(nominalAt, { localTime: `${tag}-ahead`, job: aJob() });
    const plan = { scheduleId: spec.id, version, decidedUntil: nominalAt, nextAt: null, occurrences: [occurrence] };
    const { outbox } = (await store.plan([plan])).aftermath;
    const [by] = await claim(store, outboxIds(outbox));
    if (by === undefined) throw new Error("the job that writes targets was claimed");
    const made = { key: `${tag}-${version}`, starterId: by.jobId, parentId: null };
    const run = { ...ofPages, ...made, kind: "ahead", sealed: false, tasks: [] };
    const { runId } = await store.startRun(run);
    const targets = [{ job: aJob({ key: `${tag}-ahead`, dueAt: nominalAt }), row: null }];
    const written = await store.addPage(runId, { targets, cursor: 1, by });
    await claim(store, outboxIds(written.aftermath.outbox));
  };
  await store.createSchedule(spec);
  await write(1);
  await store.updateSchedule({ ...spec, payload: { again: true } });
  for (const runId of await store.cancelingRuns(10)) await store.cancelPage(runId, { limit: 10 });
  await write(2);
  await clock.advance(2 * minute);
  await store.decidePrematerialized({ limit: 10 });
}

async function locks(store: TestStore, tag: string): Promise<void> {
  await store.installFence({ name: tag, token: 1 });
  await store.relay({ limit: 10, fence: { name: tag, token: 1 } });
  const taken = await store.takeFallback(tag, "a", minute);
  await store.takeFallback(tag, "b", minute);
  if (!("fence" in taken)) throw new Error("the lock row was free");
  await store.renewFallback(tag, "a", taken.fence, minute);
  await store.releaseFallback(tag, "a", taken.fence);
}

async function reads(store: TestStore): Promise<void> {
  await store.now();
  const [newest] = await store.jobs({ limit: 1 });
  if (newest === undefined) throw new Error("the tour inserted jobs");
  await store.job(newest.id);
  await store.job({ kind: newest.kind, key: "a key" });
  await store.schedules();
  await store.occurrences("tour", undefined, 10);
}

async function replaced(store: TestStore): Promise<void> {
  const slotKeys = ["overlap:next"];
  await store.installSlots([{ key: "overlap:next", size: 1, onRefusal: "hold", reason: "replaced" }]);
  await claim(store, await insert(store, [aJob({ slotKeys }), aJob({ slotKeys })]));
  for (const { jobs } of await store.replaced("all")) await store.cancel(jobs, { reason: "replaced" });
}
