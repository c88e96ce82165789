import type { JobId } from "../../../../src/core/job/job.ts";
import { type Settlement } from "../../../../src/core/ports/ports.ts";
import {
  aJob,
  dispatchWindowMs,
  failure,
  minute,
  settlementOf,
  settleOptions,
} from "../../../contract/store/fixture.ts";
import { aRun, aTask, failed } from "../../../contract/store/run-fixture.ts";
import { aSpec, occurrenceAt } from "../../../contract/store/schedule-fixture.ts";
import type { Tour, World } from "../tour.ts";
import { at, claim, job, occurrence, put, set } from "../jobs.ts";
import { withoutIndexes } from "../stage.ts";

/** Outcomes of every kind, cancels of every state and second chances of every end. */
export const ends: Tour = { name: "ends", parts: [outcomes, successors, canceled, retried, groups, backfilled] };

const soon = { to: "QUEUED", interruptions: 1, delayMs: 1_000 } as const;
const each: readonly Partial<Settlement>[] = [
  {},
  failure,
  { ...failure, delayMs: 1_000 },
  { ...failure, delayMs: dispatchWindowMs + 1 },
  { ...failure, to: "FAILED" },
  { to: "QUEUED", interruptions: 1 },
  soon,
];

/** The same outcomes for plain rows and rows with slots of two lanes, alone and together, beside rows of other attempts. */
async function outcomes(world: World): Promise<void> {
  const { store } = world;
  await withoutIndexes(world);
  await store.installSlots([{ key: "cap", size: 40, onRefusal: "hold", reason: "slot" }]);
  for (const slotKeys of [[], ["cap"]]) {
    const jobs = each.map((_, n) => ({ slotKeys, lane: n % 2 === 0 ? "default" : "mail" }));
    const ids = await put(world, [...jobs, ...jobs]);
    await job(world, ids, "solo_required = true");
    const running = [...(await claim(world, ids, { alone: true }))].toSorted(
      (a, b) => Number(a.jobId) - Number(b.jobId),
    );
    await job(world, ids.slice(7), "lane = 'mail'");
    await set(world, "update belfry.slot set free_from = belfry.now() where job_id = $1", [at(ids, 5)]);
    const settlements = running.map((held, n) => settlementOf(held, at(each, n % each.length)));
    await store.cancel([at(ids, 7)]);
    await store.settle(settlements.slice(0, 1), settleOptions);
    await store.settle(
      settlements.map((one, n) => (n === 2 ? { ...one, attempt: 9 } : one)),
      settleOptions,
    );
    await store.settle(settlements, { ...settleOptions, inSameTransaction: async () => {} });
  }
  const [bare, other] = await put(world, [{}, { expiresAt: (await store.now()) + minute }]);
  if (bare === undefined || other === undefined) throw new Error("two jobs were inserted");
  await claim(world, [bare, other]);
  await set(world, "update belfry.slot set job_id = $1, attempt = 1 where n = 40", [other]);
  await store.settle([settlementOf({ jobId: other, attempt: 1 })], settleOptions);
}

/** Narrow and wide successors in two lanes: due, due at the window and beyond it, no longer blocked; every join and failure rule. */
async function successors(world: World): Promise<void> {
  const { store } = world;
  await withoutIndexes(world);
  const roots = Array.from({ length: 33 }, (_, n) => aTask(`root-${n}`));
  const mail = aTask("").job;
  const tasks = [
    ...roots,
    aTask("due", [0]),
    aTask("mail", [0], { job: { ...mail, lane: "mail" } }),
    aTask("at-window", [0]),
    aTask("beyond", [0], { job: { ...mail, lane: "mail" } }),
    aTask("beyond-quiet", [0], { job: { ...mail, lane: "quiet" } }),
    aTask("waits", [0, 1]),
    aTask("open", [0]),
    aTask("any", [0, 1, 2], { join: "any" }),
    aTask("done", [0, 3], { join: "allDone" }),
    aTask("wide", Array.from(roots.keys())),
    aTask("narrow-of-bad", [3]),
  ];
  for (const onFailure of ["skip-downstream", "continue", "stop"] as const) {
    const { runId } = await store.startRun(aRun({ key: onFailure, onFailure, tasks }));
    const views = new Map((await store.tasks(runId, { limit: 100 })).map((view) => [view.task ?? "", view.jobId]));
    const id = (name: string): JobId =>
      at(
        [views.get(name)].filter((one) => one !== undefined),
        0,
      );
    const window = `belfry.now() + belfry.span(${dispatchWindowMs})`;
    await job(world, [id("at-window")], `due_at = ${window}`);
    await job(world, [id("beyond"), id("beyond-quiet")], `due_at = ${window} + interval '1 ms'`);
    await job(world, [id("open")], "blocked = false");
    const first = [0, 1, 2, 3, 4].map((n) => id(`root-${n}`));
    await claim(world, first);
    const end = async (names: readonly string[], over: Partial<Settlement>, hook = false) =>
      await store.settle(
        names.map((name) => settlementOf({ jobId: id(name), attempt: 1 }, { inRun: true, ...over })),
        { ...settleOptions, ...(hook ? { inSameTransaction: async () => {} } : {}) },
      );
    await end(["root-0"], {});
    await claim(world, [id("any"), id("due")]);
    await end(["root-1"], {}, true);
    await end(["root-2", "root-4"], failure);
    await end(["root-3"], failed);
    await end(["due", "any"], {});
  }
}

/** Rows of every state with slots, seats and times that they have, had, or that another one has. */
async function canceled(world: World): Promise<void> {
  const { store, clock } = world;
  await withoutIndexes(world);
  await store.installSlots([
    { key: "cap", size: 20, onRefusal: "hold", reason: "slot" },
    { key: "one", size: 3, onRefusal: "queue-one", reason: "overlap" },
  ]);
  const cap = { slotKeys: ["cap"] };
  const running = await put(world, [cap, cap, { ...cap, leaseMs: 30_000 }, { ...cap, lane: "mail" }, {}, cap]);
  const waiting = await put(world, [cap, { delayMs: 2 * dispatchWindowMs }, cap, {}, cap]);
  for (const id of running.slice(0, 4)) await claim(world, [id]);
  await claim(world, running.slice(4), { worker: "worker-2" });
  await store.extendLease({ jobId: at(running, 1), attempt: 1 }, { worker: "worker-1", leaseMs: 9 * minute });
  await set(world, "delete from belfry.lease where job_ids @> $1::bigint[]", [[at(running, 3)]]);
  const [retry] = await claim(world, [at(waiting, 3)]);
  if (retry === undefined) throw new Error("it is plain and due");
  await store.settle([settlementOf(retry, { ...failure, delayMs: 2 * dispatchWindowMs })], settleOptions);
  const slot = "update belfry.slot set job_id = $1, attempt = $2, kept_for = $3 where key = $4 and n = $5";
  await set(world, slot, [at(running, 0), 0, null, "cap", 10]);
  await set(world, slot, [at(running, 0), null, null, "cap", 11]);
  await set(world, slot, [at(waiting, 0), 0, null, "cap", 12]);
  await set(world, slot, [at(waiting, 0), 1, 1, "cap", 13]);
  await set(world, slot, [at(waiting, 1), null, null, "one", 0]);
  await set(world, slot, [at(waiting, 4), 1, 1, "one", 1]);
  for (const id of [...running.slice(0, 3), ...waiting.slice(0, 2), at(waiting, 4), null])
    for (const outcome of ["PLANNED", "FIRED"]) await occurrence(world, { job: id, outcome });
  await clock.advance(1_000);
  await store.cancel([at(running, 2)], { caller: "ada" });
  await set(world, slot, [at(running, 2), 1, 1, "one", 2]);
  await occurrence(world, { job: at(running, 2), outcome: "PLANNED" });
  await store.cancel([at(waiting, 4)]);
  await store.cancel([...running, ...waiting.slice(0, 4), at(waiting, 1)], { caller: "bob" });
  const held = running.map((jobId, n) => ({ jobId, attempt: n === 0 ? 9 : 1 }));
  await store.freeSlots([at(held, 0), at(held, 1)]);
  await store.freeSlots([...held, { jobId: at(waiting, 0), attempt: 0 }]);
}

/** Ended rows of all kinds with every counter set, some of runs, and paces around the dispatch window. */
async function retried(world: World): Promise<void> {
  const { store, operations } = world;
  await withoutIndexes(world);
  const { runId } = await store.startRun(aRun({ tasks: [aTask("a"), aTask("b")] }));
  const tasks = (await store.tasks(runId, { limit: 10 })).map(({ jobId }) => jobId);
  const now = await store.now();
  const paces = [now - minute, now + dispatchWindowMs - 1_000, now + dispatchWindowMs, now + minute];
  for (const [round, dueAt] of [...paces, null].entries()) {
    const ids = await put(
      world,
      Array.from({ length: 7 }, (_, n) => ({ lane: n % 2 === 0 ? "default" : "mail", expiresAt: now + minute })),
    );
    const ended = round === 0 ? [...ids, ...tasks] : ids;
    await claim(world, ended.slice(0, 3));
    await store.settle(
      ended.slice(0, 3).map((jobId) => settlementOf({ jobId, attempt: 1 }, failed)),
      settleOptions,
    );
    await store.cancel(ended.slice(2));
    const counted =
      "failures = 0, interruptions = least(1, attempt), dead_letters = 2, solo_required = true, not_taken = true";
    await job(world, ended.slice(0, 6), `${counted}, catch_up = true, slot_keys = '{"cap"}', progress = 0.5`);
    if (dueAt === null) await store.retry(ended, { caller: "ada" });
    else await operations.retryPaced(ended, { dueAt, paceMs: 1_000, caller: "ada" });
  }
}

/** Groups that change in one thing each, and that shrink while their slots are taken. */
async function groups(world: World): Promise<void> {
  const { store } = world;
  await withoutIndexes(world);
  const group = { key: "a", size: 4, onRefusal: "hold", reason: "slot" } as const;
  await store.installSlots([group, { ...group, key: "b" }, { ...group, key: "c" }]);
  const ids = await put(
    world,
    Array.from({ length: 3 }, () => ({ slotKeys: ["a"] })),
  );
  await claim(world, ids);
  await store.installSlots([{ ...group, onRefusal: "skip" }]);
  await store.installSlots([{ ...group, onRefusal: "skip", reason: "overlap" }]);
  await store.installSlots([
    { ...group, size: 2 },
    { ...group, key: "b", size: 3, onRefusal: "queue-one" },
  ]);
  await store.installSlots([{ ...group, size: 1 }]);
  await store.installSlots([{ ...group, key: "c", size: 1 }]);
}

/** A past time that runs again in a backfill, under its slot and as a catch-up, and one that is let off its slot. */
async function backfilled(world: World): Promise<void> {
  const { store } = world;
  await store.installSlots(["first", "other"].map((key) => ({ key, size: 2, onRefusal: "hold", reason: "slot" })));
  await store.createSchedule(aSpec({ id: "past", app: "api" }));
  const nominalAt = (await store.now()) - minute;
  const times = (slotKey: string) =>
    [nominalAt, nominalAt - minute].map((dueAt) => {
      const own = aJob({ kind: "sweep", dueAt, slotKeys: [slotKey] });
      return { occurrence: occurrenceAt(dueAt, { isCatchUp: true, job: own }), version: 1 };
    });
  await store.backfill("past", times("first"), { paceMs: 1_000, slotKey: "first" });
  const found = await store.occurrences("past", 10);
  const jobs = found.flatMap(({ jobId }) => (jobId === null ? [] : [jobId]));
  await store.cancel(jobs);
  await job(world, jobs, "catch_up = false");
  await store.backfill("past", times("other"), { paceMs: 1_000, slotKey: "other" });
}
