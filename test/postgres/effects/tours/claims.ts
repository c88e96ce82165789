import type { JobId } from "../../../../src/core/job/job.ts";
import { minute, settlementOf, settleOptions } from "../../../contract/store/fixture.ts";
import { aRun } from "../../../contract/store/run-fixture.ts";
import { aSpec } from "../../../contract/store/schedule-fixture.ts";
import type { Tour, World } from "../tour.ts";
import { at, claim, job, messagesOf, occurrence, put, set, turned } from "../jobs.ts";
import { withoutIndexes } from "../stage.ts";

/** Messages of every row that a claim may meet: it runs, is held, is skipped, or is not for this claim. */
export const claims: Tour = { name: "claims", parts: [plain, decided] };

/** Rows of two lanes and two leases; and plain ones that this claim must leave. */
async function plain(world: World): Promise<void> {
  const { store } = world;
  const ids = await put(world, [
    {},
    { leaseMs: 30_000 },
    { lane: "mail" },
    { lane: "mail", leaseMs: 30_000 },
    {},
    { delayMs: minute },
    {},
    { expiresAt: (await store.now()) + minute },
    { expiresAt: (await store.now()) + minute },
    {},
  ]);
  await job(world, ids.slice(4, 5), "solo_required = true");
  await job(world, ids.slice(0, 1), "progress = 0.5");
  await job(world, ids.slice(8, 9), "solo_required = true");
  const messages = (await messagesOf(world, ids)).map((message, n) =>
    n === 6 || n === 7 ? { ...message, generation: 5 } : message,
  );
  await store.claim(messages, { worker: "worker-1", alone: false });
  for (const message of messages) await store.claim([message], { worker: "worker-1", alone: false });
  await store.claim(messages, { worker: "worker-1", alone: true });
}

/** Rows that were started before and wait in their queue again: attempt 1, generation 2. */
async function again(world: World, count: number): Promise<readonly JobId[]> {
  const ids = await put(
    world,
    Array.from({ length: count }, () => ({})),
  );
  await claim(world, ids, { worker: "worker-1" });
  await world.store.settle(
    ids.map((jobId) => settlementOf({ jobId, attempt: 1 }, { to: "QUEUED", interruptions: 1 })),
    settleOptions,
  );
  await job(world, ids, "solo_required = false");
  return ids;
}

/** Schedules that are paused, paused until now, off and on. */
async function schedules({ store, pool }: World): Promise<void> {
  await store.installSchedules(["paused", "ending", "off", "on"].map((id) => aSpec({ id })));
  await pool.query(
    "update belfry.schedule set paused_until = belfry.now() + interval '1 millisecond' where id = 'paused'",
  );
  await pool.query("update belfry.schedule set paused_until = belfry.now() where id = 'ending'");
  await pool.query("update belfry.schedule set enabled = false where id = 'off'");
}

/** A run each that goes on, has stopped, is being canceled, and was written ahead by a schedule that is off or paused. */
async function runs(world: World): Promise<readonly string[]> {
  const { store } = world;
  const ids: string[] = [];
  for (const key of ["on", "stopped", "canceled", "of-off", "of-paused"])
    ids.push((await store.startRun(aRun({ key, tasks: [], sealed: false }))).runId);
  await set(world, "update belfry.run set stopped = true, canceled_by = 'eve' where key = 'stopped'");
  await set(
    world,
    "update belfry.run set state = 'CANCELING', stopped = true, canceled_by = 'ada' where key = 'canceled'",
  );
  await set(
    world,
    "update belfry.run set prematerialized_by = 'off', prematerialized_for = belfry.now() where key = 'of-off'",
  );
  await set(
    world,
    "update belfry.run set prematerialized_by = 'paused', prematerialized_for = belfry.now() where key = 'of-paused'",
  );
  return ids;
}

/** Rows with an expiry, a schedule or a run: each of what ends a job at its claim, at its bound and on its second attempt. */
async function decided(world: World): Promise<void> {
  const { store } = world;
  await withoutIndexes(world);
  await schedules(world);
  const runIds = await runs(world);
  const first = [
    "expires_at = belfry.now()",
    "expires_at = belfry.now() + interval '1 millisecond', lane = 'mail', lease_ms = 30000",
    "expires_at = belfry.now() - interval '1 millisecond'",
    ...["paused", "ending", "off", "on", "on", "on"].map((id) => `schedule_id = '${id}', scheduled_for = due_at`),
    ...runIds.map((id) => `run_id = ${id}`),
    "schedule_id = 'on', solo_required = true",
    "schedule_id = 'on', has_condition = true",
    "schedule_id = 'on', has_condition = true, lane = 'mail'",
    "schedule_id = 'on', due_at = belfry.now() + interval '1 minute'",
    "expires_at = belfry.now() + interval '1 hour', lease_ms = 30000",
    "run_id = null",
  ];
  const ids = await put(
    world,
    first.map(() => ({})),
  );
  for (const [n, columns] of first.entries()) await job(world, [at(ids, n)], columns);
  const second = await again(world, 5);
  for (const [n, columns] of [
    "schedule_id = 'paused'",
    "schedule_id = 'off'",
    "expires_at = belfry.now()",
    `run_id = ${at(runIds, 2)}`,
    `run_id = ${at(runIds, 4)}`,
  ].entries())
    await job(world, [at(second, n)], columns);
  await job(world, ids, "progress = 0.5");
  for (const [n, outcome] of [
    [0, "PLANNED"],
    [1, "PLANNED"],
    [2, "FIRED"],
    [3, "PLANNED"],
    [4, "SKIPPED"],
    [5, "SKIPPED"],
    [6, "PLANNED"],
    [7, "FIRED"],
    [8, "COALESCED"],
    [11, "PLANNED"],
    [12, "SKIPPED"],
  ] as const)
    await occurrence(world, { job: at(ids, n), outcome, catchUp: n === 1 || n === 4 });
  await occurrence(world, { job: null, outcome: "PLANNED", catchUp: false });
  const all = [...ids, ...second];
  const asked = [at(ids, 16)];
  await turned(world, "job", "id");
  await claim(world, [at(ids, 14)]);
  await claim(world, [at(ids, 15)]);
  await claim(world, [at(ids, 17)]);
  const messages = (await messagesOf(world, all)).map((message) =>
    message.jobId === at(ids, 8) ? { ...message, generation: 9 } : message,
  );
  await store.claim(messages, { worker: "worker-2", alone: false, asked });
  await claim(world, all, { alone: true });
}
