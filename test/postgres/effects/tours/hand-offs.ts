import type { JobId } from "../../../../src/core/job/job.ts";
import { dispatchWindowMs, failure, minute, settlementOf, settleOptions } from "../../../contract/store/fixture.ts";
import type { Tour, World } from "../tour.ts";
import { at, claim, jobsOf, messagesOf, put, set, turned } from "../jobs.ts";
import { withoutIndexes } from "../stage.ts";

/** What is handed to a queue, and what is not yet: at the dispatch window, in equal places, of lanes that are paused. */
export const handOffs: Tour = { name: "hand-offs", parts: [inserts, relays, runsNow, reopens, lanes, wakes] };

/** At the window's end and beside it; keys that are given twice, and that another kind has too. */
async function inserts(world: World): Promise<void> {
  const { store } = world;
  await withoutIndexes(world);
  await put(
    world,
    [-1, 0, 1].map((ms) => ({ delayMs: dispatchWindowMs + ms })),
  );
  await put(world, [{ kind: "other", key: "same", payload: 1 }]);
  await put(world, [{ kind: "send-mail", key: "same", payload: 2 }]);
  await put(world, [{ kind: "other", key: "last", payload: 3 }]);
  const again = { key: "same", payload: 2 };
  await put(world, [again, { ...again, kind: "other" }, { key: "last", payload: 3 }]);
  await turned(world, "job", "id");
  await put(world, [again, { ...again, kind: "other" }]);
  await put(
    world,
    Array.from({ length: 60 }, (_, n) => ({ key: n % 3 === 0 ? null : `k-${n % 4}`, payload: n, kind: "many" })),
  );
  await store.insert([]);
}

/** Equal due times whose rows lie in another order than their ids; rows that are held, blocked, out, ended. */
async function relays(world: World): Promise<void> {
  const { store, clock } = world;
  await withoutIndexes(world);
  const late = Array.from({ length: 12 }, (_, n) => ({
    delayMs: dispatchWindowMs + minute + (n % 3) * minute,
    lane: n % 2 === 0 ? "default" : "mail",
  }));
  const ids = await put(world, late);
  await set(world, "update belfry.job set blocked = true where id = $1", [at(ids, 0)]);
  await set(world, "update belfry.job set hold = 'slot', held_on = 'cap' where id = $1", [at(ids, 1)]);
  await store.cancel([at(ids, 2)]);
  await turned(world, "job", "id");
  await clock.advance(minute - 1);
  await store.relay({ limit: 10 });
  await clock.advance(1);
  await store.relay({ limit: 1, lane: "default" });
  await store.relay({ limit: 1 });
  await clock.advance(minute);
  await store.relay({ limit: 1 });
  await clock.advance(minute);
  await store.relay({ limit: 2 });
  await store.relay({ limit: 100 });
}

/** Jobs of every place by hand: waiting, blocked, held, QUEUED with a message that comes later, due now, running, ended. */
async function runsNow(world: World): Promise<void> {
  const { operations, store, clock } = world;
  const ids = await put(world, [
    { delayMs: minute },
    { delayMs: 2 * minute, lane: "mail" },
    { delayMs: 3 * minute },
    {},
    { delayMs: dispatchWindowMs + minute },
    { delayMs: dispatchWindowMs + 2 * minute },
    { delayMs: dispatchWindowMs + 3 * minute, lane: "mail" },
    { delayMs: dispatchWindowMs + 3 * minute },
    {},
    {},
  ]);
  await set(world, "update belfry.job set blocked = true where id = $1", [at(ids, 5)]);
  await set(world, "update belfry.job set hold = 'paused', held_on = 'lane:default' where id = $1", [at(ids, 7)]);
  await claim(world, [at(ids, 8)]);
  await store.cancel([at(ids, 9)]);
  await put(world, [{ delayMs: minute }]);
  await operations.runNow(ids.slice(0, 1), { caller: "ada" });
  await clock.advance(1_000);
  await operations.runNow(ids);
  await operations.runNow(ids);
}

/** Batches that are open for long, at the bound and shorter, some with messages that are stale by now; parts of batches. */
async function reopens(world: World): Promise<void> {
  const { store, clock } = world;
  await withoutIndexes(world);
  const batches: { id: string; jobs: readonly JobId[] }[] = [];
  for (const lane of ["default", "mail", "default", "quiet", "mail"]) {
    const { results, aftermath } = await store.insert(jobsOf([{ lane }, { lane }, { lane, delayMs: minute }]));
    batches.push({ id: at(aftermath.outbox, 0).id, jobs: results.map(({ id }) => id) });
    if (batches.length % 2 === 0) await clock.advance(1_000);
  }
  const [first, second] = [at(batches, 0), at(batches, 1)];
  await claim(world, first.jobs.slice(0, 1));
  await store.confirm([
    { id: first.id, failed: second.jobs },
    { id: second.id, failed: [at(second.jobs, 0), at(second.jobs, 2)] },
  ]);
  await set(
    world,
    "update belfry.outbox set at = at - interval '10 seconds' where id = (select max(id) from belfry.outbox)",
  );
  await turned(world, "outbox", "id");
  await clock.advance(3_000);
  await store.reopen({ olderThanMs: 5_000, limit: 1, messagesMax: 1_000, lane: "mail" });
  await store.reopen({ olderThanMs: 5_000, limit: 1, messagesMax: 1_000 });
  await store.reopen({ olderThanMs: 4_000, limit: 2, messagesMax: 1_000 });
  await store.reopen({ olderThanMs: 3_000, limit: 10, messagesMax: 1_000 });
  await store.confirm([{ id: at(batches, 2).id, failed: [] }]);
  await clock.advance(1_000);
  await store.keep([
    { id: at(batches, 4).id, resent: 1, unsent: at(batches, 4).jobs.slice(1) },
    { id: at(batches, 3).id, resent: 0, unsent: at(batches, 3).jobs.slice(0, 2) },
    { id: at(batches, 1).id, resent: 1, unsent: [] },
    { id: "0", resent: 0, unsent: [] },
  ]);
  await store.reopen({ olderThanMs: 500, limit: 10, messagesMax: 1_000 });
  await store.reopen({ olderThanMs: 0, limit: 10, messagesMax: 1 });
  await store.reopen({ olderThanMs: 0, limit: 10, messagesMax: 1_000 });
}

/** Pauses that last, that have ended, that end just now; what they hold, beside what waits for a slot or its time. */
async function lanes(world: World): Promise<void> {
  const { operations, store, clock } = world;
  await withoutIndexes(world);
  const now = await store.now();
  const names = ["ended", "ends", "lasts", "open"];
  const paused = { by: "ada", reason: "why" };
  const pauses = [now + 1_000, now + 2_000, null, now + 9_000];
  for (const [n, lane] of names.entries()) await operations.pauseLane(lane, { ...paused, until: at(pauses, n) });
  await operations.pauseLane("lasts", { by: "bob", reason: "why", until: null });
  await operations.pauseLane("lasts", { by: "bob", reason: "other", until: null });
  await operations.pauseLane("open", { by: "bob", reason: null, until: now + 9_000 });
  const ids = await put(
    world,
    Array.from({ length: 24 }, (_, n) => ({ lane: at(names, n % 4), dueAt: now - (n % 8 < 4 ? 1_000 : 2_000) })),
  );
  await put(world, [{ lane: "lasts" }]);
  const messages = await messagesOf(world, ids);
  await claim(world, [at(ids, 0), at(ids, 1)]);
  await operations.holdPaused([{ ...at(messages, 2), generation: 7 }, at(messages, 0), at(messages, 3)]);
  await operations.holdPaused([at(messages, 4)]);
  await operations.holdPaused(messages);
  await set(world, "update belfry.job set blocked = true where id = any($1)", [[at(ids, 5), at(ids, 6)]]);
  await turned(world, "job", "id");
  await clock.advance(2_000);
  for (const lane of names) await operations.isPaused(lane);
  for (const id of ids.slice(0, 8)) await operations.waiting(id, 5);
  await operations.lanePauses();
  await operations.unholdPaused("lasts", 1);
  await operations.unholdPaused("lasts", 2);
  await operations.unholdOpen(1);
  await operations.unholdOpen(2);
  await operations.unholdOpen(5);
  await operations.unholdOpen(100);
  await operations.pauseLane("open", null);
  await operations.unholdOpen(100);
}

/** More held rows than slots, of equal due times; slots that are free, kept, leaving, and beyond the size. */
async function wakes(world: World): Promise<void> {
  const { store, clock } = world;
  await withoutIndexes(world);
  const group = { onRefusal: "hold", reason: "slot" } as const;
  const keys = ["a", "b", "c"];
  for (const key of keys.toReversed()) await store.installSlots([{ key, size: 6, ...group }]);
  const now = await store.now();
  const ids = await put(
    world,
    Array.from({ length: 60 }, (_, n) => ({ slotKeys: [at(keys, n % 3)], dueAt: now - (n % 2) * 1_000 })),
  );
  await claim(world, ids);
  await heldBeside(world);
  const running = await store.peek(ids);
  const open = running.filter(({ state }) => state === "RUNNING").map(({ jobId }) => jobId);
  await store.cancel(open.slice(0, 4));
  await store.installSlots([{ key: "b", size: 3, ...group }]);
  await set(world, "update belfry.slot set job_id = null where key = 'b' and n > 2");
  await clock.advance(minute);
  await set(
    world,
    `update belfry.slot s set free_from = belfry.now() + (n - 2) * interval '1 millisecond' where key = 'a' and n < 4`,
  );
  const slot =
    "update belfry.slot set job_id = $1, attempt = 1, kept_for = $2, free_from = null where key = 'c' and n = $3";
  const kept = await put(world, [{ slotKeys: ["c"] }, { slotKeys: ["c"] }]);
  for (const [n, keptFor] of [1, 2, 0].entries()) await set(world, slot, [at(kept, 0), keptFor, n + 1]);
  await set(world, slot, [at(open, 5), 1, 4]);
  await set(world, slot, [at(open, 5), 0, 5]);
  await turned(world, "job", "id");
  await store.wake({ slotKeys: ["c"], limit: 1 });
  await store.wake({ slotKeys: ["a"], limit: 100 });
  await store.wake({ slotKeys: ["a", "b"], limit: 3 });
  await store.wake({ slotKeys: "all", limit: 2 });
  await set(world, "update belfry.slot set job_id = null, kept_for = null, free_from = null");
  await store.wake({ slotKeys: "all", limit: 100 });
}

/** Due times in another order than the ids; rows that are blocked, alone under their key and first under another; a retry. */
async function heldBeside(world: World): Promise<void> {
  const { store } = world;
  const hold =
    "update belfry.job set hold = 'slot', held_on = $2, due_at = belfry.now() - interval '1 hour' where id = $1";
  await set(world, "update belfry.job set due_at = due_at - id % 3 * interval '1 second' where held_on <> ''");
  const far = Array.from({ length: 5 }, () => ({ delayMs: 2 * dispatchWindowMs }));
  const ids = await put(world, far);
  for (const [n, key] of ["0", "a", "b", "c", "zz"].entries()) await set(world, hold, [at(ids, n), key]);
  await set(world, "update belfry.job set blocked = true where id = any($1)", [ids]);
  const [retried] = await claim(world, await put(world, [{}]));
  if (retried === undefined) throw new Error("it is plain and due");
  await store.settle([settlementOf(retried, { ...failure, delayMs: 2 * dispatchWindowMs })], settleOptions);
  await set(world, hold, [retried.jobId, "b"]);
}
