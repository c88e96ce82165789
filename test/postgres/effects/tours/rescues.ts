import type { JobId } from "../../../../src/core/job/job.ts";
import { minute, settlementOf, settleOptions } from "../../../contract/store/fixture.ts";
import type { Tour, World } from "../tour.ts";
import { at, claim, occurrence, put, set, turned } from "../jobs.ts";
import { withoutIndexes } from "../stage.ts";

/** Leases of every end, dead letters of every count, and heartbeats of the right and of every wrong attempt. */
export const rescues: Tour = { name: "rescues", parts: [lost, lostBesideSlots, undelivered, heartbeats] };

const leaseMs = 20_000;

/** Leases of two lanes: of one job and of many, solo and not, a millisecond before, at and after their end. */
async function lost(world: World): Promise<void> {
  const { store, clock } = world;
  await withoutIndexes(world);
  const solo = await put(world, [{ maxAttempts: 1 }, { maxAttempts: 2 }, { maxAttempts: 3 }, { lane: "mail" }]);
  for (const id of solo) await claim(world, [id], { alone: true });
  const batch = await put(world, [{}, {}, {}, {}, { lane: "mail" }, { lane: "mail" }, { leaseMs: 30_000 }]);
  const [first, second] = await claim(world, batch.slice(0, 2));
  if (first === undefined || second === undefined) throw new Error("both are plain and due");
  const interrupted = { to: "QUEUED", interruptions: 1 } as const;
  await store.settle([settlementOf(first, interrupted), settlementOf(second, interrupted)], settleOptions);
  const running = await claim(world, batch);
  await store.extendLease(at(running, 2), { worker: "worker-1", leaseMs: 5 * minute });
  await store.settle([settlementOf(at(running, 3))], settleOptions);
  await clock.advance(1);
  const later = await put(world, [{}, {}, { lane: "mail" }]);
  await claim(world, later);
  await turned(world, "lease", "id");
  await turned(world, "job", "id");
  await clock.advance(leaseMs - 1);
  await look(world);
  await clock.advance(1);
  await look(world);
  await store.rescue({ limit: 1, interruptionsMax: 2, lane: "mail" });
  await store.rescue({ limit: 2, interruptionsMax: 2, lane: "default", leases: ["5", "6", "7", "8"] });
  await store.rescue({ limit: 3, interruptionsMax: 2 });
  await store.rescue({ limit: 100, interruptionsMax: 2, lane: "default" });
  await clock.advance(1);
  await store.rescue({ limit: 2, interruptionsMax: 2 });
  for (const length of [3 * leaseMs, leaseMs]) await claim(world, await put(world, [{ leaseMs: length }]));
  await clock.advance(3 * leaseMs + 1);
  await look(world);
  for (const limit of [1, 1, 100]) await store.rescue({ limit, interruptionsMax: 2 });
}

async function look({ store }: World): Promise<void> {
  for (const lane of ["default", "mail", undefined])
    for (const limit of [2, 100]) await store.lapsedLeases({ limit, lane });
}

/** Lost jobs of all four kinds with slots; beside them slots of other attempts, of runs, and of canceled jobs. */
async function lostBesideSlots(world: World): Promise<void> {
  const { store, clock } = world;
  const group = { onRefusal: "hold", reason: "slot" } as const;
  await store.installSlots([
    { key: "kept", size: 9, ...group },
    { key: "freed", size: 9, ...group },
    { key: "gone", size: 3, ...group },
  ]);
  const again = await put(world, [{ slotKeys: ["kept"] }, { slotKeys: ["kept"] }]);
  const ended = await put(world, [
    { slotKeys: ["freed"], maxAttempts: 1 },
    { slotKeys: ["freed"] },
    { maxAttempts: 1 },
  ]);
  const left = await put(world, [{ slotKeys: ["gone"] }, { slotKeys: ["gone"] }, { slotKeys: ["gone"] }]);
  await claim(world, [at(ended, 1)]);
  const interrupted = { to: "QUEUED", interruptions: 1 } as const;
  await store.settle([settlementOf({ jobId: at(ended, 1), attempt: 1 }, interrupted)], settleOptions);
  await set(world, "update belfry.job set failures = 0");
  await claim(world, [at(again, 0)], { alone: true });
  await claim(world, [at(ended, 0)], { alone: true });
  await claim(world, [at(ended, 2)], { alone: true });
  await claim(world, [at(again, 1), at(ended, 1)]);
  for (const id of left) await claim(world, [id]);
  await store.cancel(left);
  await besides(world, again, ended);
  await clock.advance(21_001);
  await set(
    world,
    `update belfry.slot s set free_from = belfry.now() + (s.n - 2) * interval '1 millisecond' where key = 'gone'`,
  );
  await store.rescue({ limit: 100, interruptionsMax: 2 });
  await claim(world, [at(again, 0)], { alone: true });
  await clock.advance(minute);
  await store.rescue({ limit: 100, interruptionsMax: 2 });
}

/** A slot that the job left in an attempt before, one that it passed to its run, and one that says when it is free. */
async function besides(world: World, again: readonly JobId[], ended: readonly JobId[]): Promise<void> {
  const put = "update belfry.slot set job_id = $1, attempt = $2, free_from = $3 where key = $4 and n = $5";
  await set(world, put, [at(again, 0), 0, "2026-02-28T22:00:00Z", "kept", 7]);
  await set(world, put, [at(ended, 0), null, null, "kept", 8]);
  await set(world, put, [at(ended, 1), 1, null, "kept", 9]);
  await set(world, "update belfry.slot set kept_for = 7 where key = 'gone'");
  await set(world, "update belfry.slot set free_from = '2027-01-01' where key = 'kept' and n = 1");
}

/** Dead letters: the last one that a job is allowed and each beside it, with seats and occurrences; and messages that are stale. */
async function undelivered(world: World): Promise<void> {
  const { store } = world;
  const group = { size: 2, onRefusal: "queue-one", reason: "overlap" } as const;
  await store.installSlots(["one", "two", "three"].map((key) => ({ key, ...group })));
  const deaths = [0, 1, 2, 3, 4, 1, 2, 2, 2, 3];
  const ids = await put(
    world,
    deaths.map((_, n) => ({ lane: n % 2 === 0 ? "default" : "mail" })),
  );
  for (const [n, id] of ids.entries())
    await set(
      world,
      "update belfry.job set dead_letters = $2, error_code = 'BEFORE', error_message = 'before' where id = $1",
      [id, deaths[n]],
    );
  const seat = "update belfry.slot set job_id = $1, kept_for = 1 where key = $2 and n = $3";
  await set(world, seat, [at(ids, 2), "one", 0]);
  await set(world, seat, [at(ids, 2), "one", 1]);
  await set(world, seat, [at(ids, 1), "two", 0]);
  await set(world, seat, [at(ids, 8), "two", 1]);
  await set(world, seat, [at(ids, 9), "three", 0]);
  await set(world, seat, [at(ids, 9), "three", 1]);
  await occurrences(world, [at(ids, 0), at(ids, 1), at(ids, 2), at(ids, 3), at(ids, 7), at(ids, 9)]);
  await claim(world, [at(ids, 8)]);
  await turned(world, "job", "id");
  const messages = ids.map((jobId, n) => ({ jobId, generation: n === 7 ? 2 : 1, trace: "t" }));
  await store.returnUndelivered(messages.slice(9), { undeliveredMax: 3, backoffMs: minute });
  await store.returnUndelivered(messages, { undeliveredMax: 3, backoffMs: minute });
}

/** One PLANNED and one FIRED time for each of these jobs, and one that is of no job. */
async function occurrences(world: World, ids: readonly (JobId | null)[]): Promise<void> {
  for (const id of [...ids, null])
    for (const outcome of ["PLANNED", "FIRED"]) await occurrence(world, { job: id, outcome });
}

/** Who holds an attempt, and everyone who is wrong in one thing about it. */
async function heartbeats(world: World): Promise<void> {
  const { store, clock } = world;
  const ids = await put(
    world,
    Array.from({ length: 8 }, (_, n) => ({ lane: n < 4 ? "default" : "mail" })),
  );
  const mine = await claim(world, ids.slice(0, 6));
  const other = await claim(world, ids.slice(6), { worker: "worker-2" });
  const [ended, mail] = [at(mine, 1), at(mine, 5)];
  await store.settle([settlementOf(ended)], settleOptions);
  await store.extendLease(mail, { worker: "worker-1", leaseMs: minute });
  await store.takeOver(at(mine, 4), { from: "worker-1", worker: "task-1" });
  await clock.advance(1_000);
  const all = [...mine, ...other].map((job, n) => ({ ...job, ...(n % 2 === 0 ? { progress: n / 8 } : {}) }));
  const stale = { jobId: at(mine, 2).jobId, attempt: 2, progress: 0.9 };
  await store.heartbeat(all, "worker-1");
  await store.heartbeat(all, "worker-1");
  await store.heartbeat([{ ...at(mine, 0), progress: 0.5 }, stale], "worker-1");
  await store.heartbeat([{ ...at(mine, 0), progress: 0.7 }], "worker-2");
  for (const job of [at(mine, 0), ended, stale, at(other, 0), { ...at(mine, 3), attempt: 0 }]) {
    await store.extendLease(job, { worker: "worker-1", leaseMs: 2 * minute });
    await store.takeOver(job, { from: "worker-2", worker: "task-2" });
  }
  await store.heartbeat([{ ...at(mine, 0), progress: 0.6 }], "worker-1");
  await set(world, "update belfry.lease set worker = 'worker-3' where lane = 'mail'");
  await store.heartbeat(other, "worker-2");
  await store.noteCause("worker-3", "it stands still");
  await store.noteCause("task", "it stands still");
  await store.endLeases("worker-1", "it was killed");
  await store.endLeases("task", "it was killed");
  await store.endLeases("task", "it is known to be dead");
  await store.rescue({ limit: 100, interruptionsMax: 5 });
}
