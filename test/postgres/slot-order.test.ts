import { expect, test } from "vitest";
import { claimOne, insertOne, messageFor, only, running, settleOne } from "../contract/store/fixture.ts";
import { cap, capped } from "../contract/store/slot-order.ts";
import { testDatabase, otherSession } from "../support/database.ts";
import { untilWaiting } from "./race.ts";

test("a slot that is reserved while an older job is being claimed stays with the job that it was reserved for", async () => {
  const db = await testDatabase();
  const { store, pool } = db;
  await store.installSlots([cap(1)]);
  const runs = await running(store, capped);
  const older = await insertOne(store, capped);
  const held = await claimOne(store, await insertOne(store, capped));
  expect(held.state).toBe("PENDING");
  await settleOne(store, runs);
  const message = await messageFor(store, older);
  const holder = await otherSession(pool);
  await holder.query("select from belfry.job where id = $1 for update", [older]);
  // Its snapshot is from before the wake.
  const claiming = store.claim([message], { worker: "w", alone: false });
  await untilWaiting(db);
  const woken = only(only(await store.wake({ slotKeys: ["cap:x"], limit: 10 })).messages);
  await holder.query("commit");
  expect((await claiming).claimed).toMatchObject([{ jobId: older, state: "PENDING" }]);
  expect((await store.claim([woken], { worker: "w", alone: false })).claimed).toMatchObject([
    { jobId: held.jobId, state: "RUNNING" },
  ]);
});
