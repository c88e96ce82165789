import type { JobId } from "../../../../src/core/job/job.ts";
import { deliveryLimits } from "../../../../src/core/ports/delivery-limits.ts";
import { minute } from "../../../contract/store/fixture.ts";
import type { Tour, World } from "../tour.ts";
import { at, claim, put, set, turned } from "../jobs.ts";
import { withoutIndexes } from "../stage.ts";

/** Messages that are lost, beside those that are not: each time of a row a millisecond before, at and after each bound. */
export const requeues: Tour = {
  name: "requeues",
  parts: [queueEmpty, unsent, notYetDue, overtaken, overtakenByOne, newestClaims],
};

/** How long ago, in ms; a time to come is negative. */
interface Ago {
  readonly dispatched: number;
  readonly due: number;
  readonly started?: number;
}

async function ago(world: World, id: JobId, { dispatched, due, started }: Ago): Promise<void> {
  await set(
    world,
    `update belfry.job set dispatched_at = belfry.now() - belfry.span($2), due_at = belfry.now() - belfry.span($3),
       started_at = coalesce(belfry.now() - belfry.span($4), started_at) where id = $1`,
    [id, dispatched, due, started ?? null],
  );
}

/** Their messages were sent. */
async function queued(world: World, times: readonly Ago[], lane = "default"): Promise<readonly JobId[]> {
  const ids = await put(
    world,
    times.map(() => ({ lane })),
  );
  await set(world, "delete from belfry.outbox");
  for (const [n, id] of ids.entries()) await ago(world, id, at(times, n));
  return ids;
}

async function running(world: World, times: readonly Ago[], lane = "default"): Promise<readonly JobId[]> {
  const ids = await put(
    world,
    times.map(() => ({ lane })),
  );
  for (const id of ids) await claim(world, [id]);
  for (const [n, id] of ids.entries()) await ago(world, id, at(times, n));
  return ids;
}

const around = (bound: number, beyond: number): readonly Ago[] => [
  { dispatched: bound, due: beyond },
  { dispatched: beyond, due: bound },
  { dispatched: bound - 1, due: beyond },
  { dispatched: beyond, due: bound - 1 },
  { dispatched: bound + 1, due: bound + 1 },
  { dispatched: -bound / 2, due: beyond },
  { dispatched: beyond, due: -bound / 2 },
];

async function queueEmpty(world: World): Promise<void> {
  const { store } = world;
  await withoutIndexes(world);
  await queued(world, [
    ...around(minute, 90_000),
    { dispatched: 70_000, due: 90_000 },
    { dispatched: 80_000, due: 90_000 },
  ]);
  await queued(world, around(minute, 90_000), "mail");
  await running(world, around(minute, 90_000));
  await store.requeueLost({ lane: "default", evidence: "queue-empty", olderThanMs: minute, limit: 2 });
  await store.requeueLost({ lane: "default", evidence: "queue-empty", olderThanMs: minute, limit: 100 });
  await store.requeueLost({ lane: "default", evidence: "queue-empty", olderThanMs: minute - 2, limit: 100 });
}

/** Jobs whose message lies in an open batch, under their generation and an earlier one; then more batches than are read. */
async function unsent(world: World): Promise<void> {
  const { store } = world;
  await withoutIndexes(world);
  const old = { dispatched: 400_000, due: 400_000 };
  await running(world, [{ dispatched: 1, due: 1, started: 1 }]);
  await queued(world, [old]);
  const ids = await put(world, [{}, {}, { lane: "mail" }]);
  for (const id of ids) await ago(world, id, old);
  await set(world, "update belfry.job set generation = generation + 1 where id = $1", [at(ids, 1)]);
  const requeue = async (): Promise<void> => {
    await store.requeueLost({ lane: "default", evidence: "overtaken", olderThanMs: minute, limit: 1 });
    await store.requeueLost({ lane: "default", evidence: "queue-empty", olderThanMs: minute, limit: 10 });
  };
  const open = async (batches: number): Promise<void> =>
    await set(
      world,
      `delete from belfry.outbox;
       insert into belfry.outbox (at, lane, job_ids, generations)
       select belfry.now(), lane, '{0}', '{0}' from (values ('default'), ('mail')) v (lane), generate_series(1, ${batches})`,
    );
  await requeue();
  await open(deliveryLimits.batchesReadMax + 1);
  await requeue();
  await open(deliveryLimits.batchesReadMax);
  await requeue();
}

async function notYetDue(world: World): Promise<void> {
  const { store, clock } = world;
  const { queueDelayMsMax } = deliveryLimits;
  const rows = [minute - 1, minute, minute + 1, 0, 1 - queueDelayMsMax, -queueDelayMsMax, -queueDelayMsMax - 1];
  await queued(
    world,
    rows.map((due) => ({ dispatched: 0, due })),
  );
  await queued(world, [{ dispatched: queueDelayMsMax + minute, due: 0 }]);
  await queued(world, [{ dispatched: 0, due: 0 }], "mail");
  await running(world, [{ dispatched: 0, due: 0 }]);
  for (const limit of [2, 100])
    for (const lane of ["default", "mail"]) await store.countNotYetDue({ lane, sinceMs: minute, limit });
  await store.saveQueueObservations([{ lane: "default", emptyMs: minute }]);
  await clock.advance(1);
  await store.saveQueueObservations([{ lane: "mail", emptyMs: 1 }]);
  await clock.advance(1_000);
  for (const maxAgeMs of [1_000, 1_001, 1_002]) await store.queueObservations({ maxAgeMs });
}

/** The mark lies two minutes before the claim that was out first: 230 s ago. Beside it lie claims that must not count. */
async function overtaken(world: World): Promise<void> {
  const { store } = world;
  const old = { dispatched: 400_000, due: 400_000 };
  await running(world, [
    { dispatched: 100_000, due: 100_000, started: 90_000 },
    { dispatched: 180_000, due: 105_000, started: 90_000 },
    { dispatched: 110_000, due: 110_000, started: 110_000 },
    { dispatched: 300_000, due: 200_000, started: 250_000 },
    { ...old, started: 500_000 },
  ]);
  await running(world, [{ ...old, started: 1 }], "mail");
  const bounds = [230_000, 300_000].flatMap((bound) => around(bound, bound + 10_000));
  await queued(world, [...bounds, { dispatched: 250_000, due: 310_000 }, { dispatched: 310_000, due: 250_000 }]);
  await queued(world, bounds, "mail");
  const requeue = (lane: string, olderThanMs: number, limit = 100) =>
    store.requeueLost({ lane, evidence: "overtaken", olderThanMs, limit });
  await requeue("quiet", minute);
  await requeue("default", 300_000, 1);
  await requeue("default", 300_000);
  await requeue("default", minute, 1);
  await requeue("default", minute);
  await requeue("mail", minute);
}

/** One claim, and one row that is old enough: the look at the claims is due to that row alone. */
async function overtakenByOne(world: World): Promise<void> {
  await running(world, [{ dispatched: 100_000, due: 100_000, started: 90_000 }]);
  await queued(world, [{ dispatched: 400_000, due: 400_000 }]);
  await world.store.requeueLost({ lane: "default", evidence: "overtaken", olderThanMs: 150_000, limit: 10 });
}

/** More leases and events than are looked at, so that their order decides which claims count. */
async function newestClaims(world: World): Promise<void> {
  const { overtakenSampleMax, overtakenEventsMax } = deliveryLimits;
  await withoutIndexes(world);
  await running(world, [{ dispatched: 130_000, due: 130_000, started: 1 }]);
  await running(
    world,
    [140_000, 135_000].map((out) => ({ dispatched: out, due: out, started: 1 })),
  );
  await set(
    world,
    `insert into belfry.lease (worker, lane, ms, until, job_ids)
     select 'w', lane, 1, belfry.now() - interval '1 hour', '{}' from (values ('mail')) v (lane), generate_series(1, $1)`,
    [overtakenSampleMax],
  );
  await set(world, "update belfry.lease set until = belfry.now() + belfry.span(id * 1000) where worker = 'worker-1'");
  await turned(world, "lease", "id");
  await set(
    world,
    `insert into belfry.event (id, xid, at, to_state, job_ids, attempts, generations)
     select 1000 + n, '1000000000'::xid8, belfry.now(), 'QUEUED', '{}', '{}', '{}' from generate_series(1, $1) n`,
    [overtakenEventsMax - 1],
  );
  const ended = await running(
    world,
    [125_000, 145_000].map((out) => ({ dispatched: out, due: out, started: 1 })),
  );
  await set(world, "delete from belfry.lease where job_ids && $1::bigint[]", [[...ended]]);
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    await set(world, "delete from belfry.event where id > 5000");
    for (const n of order)
      await set(
        world,
        `insert into belfry.event (id, xid, at, to_state, job_ids, attempts, generations)
         values (6000 - $1::int, '900000000'::xid8, belfry.now(), 'RUNNING', array[$2::bigint], '{1}', '{1}')`,
        [n, at(ended, n)],
      );
    await queued(
      world,
      [243_000, 248_000, 253_000, 258_000, 263_000, 268_000].map((dispatched) => ({ dispatched, due: 300_000 })),
    );
    await world.store.requeueLost({ lane: "default", evidence: "overtaken", olderThanMs: minute, limit: 100 });
  }
}
