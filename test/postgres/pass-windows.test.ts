import { expect, test } from "vitest";
import { deliveryLimits } from "../../src/machine/delivery-limits.ts";
import { runLimits } from "../../src/machine/run-limits.ts";
import { aJob } from "../contract/store/fixture.ts";
import { testDatabase } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";

const db = eachTest(() => testDatabase());

const count = async (text: string): Promise<number> =>
  (await db.pool.query<{ n: number }>(`select count(*)::int as n from ${text}`)).rows[0]?.n ?? 0;

/** As many passes as the rule says: every window once, and one that begins again. */
const passesFor = (things: number, windowMax: number): number => Math.ceil(things / windowMax) + 1;

test("jobs that wait for free slots of many keys are all woken, one window of keys a pass, and the next begins again", async () => {
  const keys = deliveryLimits.wakeKeysMax * 2 + 50;
  const names = Array.from({ length: keys }, (_, n) => `cap:${String(n).padStart(4, "0")}`);
  const groups = names.map((key) => ({ key, size: 1, onRefusal: "hold", reason: "slot" }) as const);
  await db.store.installSlots(groups);
  await db.store.insert(names.map((key) => aJob({ slotKeys: [key] })));
  // As a claim leaves a job that found no slot, and as a holder that is gone leaves the slot.
  await db.pool.query(`
    alter table belfry.job disable trigger user;
    update belfry.job set state = 'PENDING', hold = 'slot', held_on = slot_keys[1], dispatched_at = null;
    alter table belfry.job enable trigger user`);
  const woken: number[] = [];
  for (let pass = 0; pass < passesFor(keys, deliveryLimits.wakeKeysMax); pass += 1) {
    const batches = await db.store.wake({ slotKeys: "all", limit: 1_000 });
    woken.push(batches.reduce((sum, batch) => sum + batch.messages.length, 0));
  }
  expect(woken).toEqual([deliveryLimits.wakeKeysMax, deliveryLimits.wakeKeysMax, 50, 0]);
  expect(await count("belfry.job where state <> 'QUEUED'")).toBe(0);
  expect(await count("belfry.pass_place where behind = ''")).toBe(1);
});

test("a pass that has no room for all jobs of its window begins with the same window again", async () => {
  const keys = ["cap:a", "cap:b", "cap:c"];
  await db.store.installSlots(keys.map((key) => ({ key, size: 1, onRefusal: "hold", reason: "slot" }) as const));
  await db.store.insert(keys.map((key) => aJob({ slotKeys: [key] })));
  await db.pool.query(`
    alter table belfry.job disable trigger user;
    update belfry.job set state = 'PENDING', hold = 'slot', held_on = slot_keys[1], dispatched_at = null;
    alter table belfry.job enable trigger user`);
  for (const left of [2, 1, 0]) {
    expect(await db.store.wake({ slotKeys: "all", limit: 1 })).toMatchObject([{ messages: [{}] }]);
    expect(await count("belfry.job where state = 'PENDING'")).toBe(left);
  }
});

test("a run whose last end no process added up is closed, however many open runs stand before it", async () => {
  const before = runLimits.passRunsMax * 2 + 50;
  const write = (count: number, keys: string) =>
    db.pool.query(`
      insert into belfry.run (kind, key, version, state, sealed, total, created_at)
      select 'kept', '${keys}-' || n, 1, 'RUNNING', true, 1, belfry.now() from generate_series(1, ${count}) n`);
  await write(before, "open");
  await write(1, "ended");
  await db.pool.query("insert into belfry.run_delta (run_id, done, ok) select max(id), 1, 1 from belfry.run");
  const closed: number[] = [];
  for (let pass = 0; pass < passesFor(before, runLimits.passRunsMax); pass += 1) {
    const resolved = await db.store.resolve({ runs: "all", limit: runLimits.resolveRowsMax });
    closed.push(resolved.closed.length);
  }
  expect(closed).toEqual([0, 0, 1, 0]);
  expect(await count("belfry.run where state = 'DONE'")).toBe(1);
});
