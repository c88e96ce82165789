/** The view for people with SQL. */
import { expect, test } from "vitest";
import { failure, insertOne, messageFor, minute, running, settleOne, claimOne } from "../contract/store/fixture.ts";
import { aRun, aTask } from "../contract/store/run-fixture.ts";
import { cap, capped } from "../contract/store/slot-order.ts";
import { aPause } from "../support/pause.ts";
import { testDatabase } from "../support/database.ts";

async function database() {
  const db = await testDatabase();
  const shown = async <T>(columns: string): Promise<readonly T[]> =>
    (await db.pool.query<T & object>(`select ${columns} from belfry.job_overview order by id`)).rows;
  return { ...db, shown };
}

test("a job's phase is one word, or what it waits for", async () => {
  const { store, shown } = await database();
  await store.installSlots([cap(1)]);
  await settleOne(store, await running(store));
  await running(store, capped);
  await claimOne(store, await insertOne(store, capped));
  await insertOne(store, { delayMs: 60 * minute });
  await settleOne(store, await running(store), { ...failure, delayMs: 60 * minute });
  const paused = await insertOne(store, { lane: "mail" });
  await store.pauseLane("mail", aPause);
  await store.holdClosed([await messageFor(store, paused)]);
  await store.startRun(aRun({ tasks: [aTask("a"), aTask("b", [0])] }));
  const due = "(select due_at from belfry.job j where j.id = job_overview.id)::text";
  expect((await shown<{ phase: string }>(`replace(phase, ${due}, 'T') as phase`)).map(({ phase }) => phase)).toEqual([
    "success",
    "running",
    "held: cap:x",
    "scheduled until T",
    "retrying at T",
    "paused",
    "queued",
    "waiting for predecessors",
  ]);
});

test("it has run since its start, not since it was due, until its end or until now", async () => {
  const { store, clock, shown } = await database();
  const [ended, open] = [await insertOne(store), await insertOne(store)];
  await insertOne(store);
  await clock.advance(10 * minute);
  const held = await claimOne(store, ended);
  await claimOne(store, open);
  await clock.advance(minute);
  await settleOne(store, held);
  await clock.advance(minute);
  const rows = await shown<{ minutes: number }>("round(extract(epoch from ran_for) / 60)::int as minutes");
  expect(rows.map(({ minutes }) => minutes)).toEqual([1, 2, 0]);
});
