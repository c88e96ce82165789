import { expect, test } from "vitest";
import { aJob, settleAll } from "../contract/store/fixture.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { watchPlans } from "./plans.ts";
import { messagesOf } from "./race.ts";

/** Enough calls of one row for a connection to keep a plan that was made for one. */
const callsOfOne = 8;
const many = 1_000;

async function liveOf({ store }: TestDatabase, count: number): Promise<void> {
  const jobs = Array.from({ length: count }, () => aJob());
  const { aftermath } = await store.insert(jobs);
  const messages = messagesOf(aftermath.outbox);
  const { claimed } = await store.claim(messages, { worker: "worker-1", alone: false });
  expect(claimed).toHaveLength(count);
  expect(await store.heartbeat(claimed, "worker-1")).toHaveLength(count);
  const { settled } = await settleAll(store, claimed);
  expect(settled).toHaveLength(count);
}

/** Rows that the steps of each statement handled for a thousand jobs. */
async function rowsOfMany(before: number, prepare: boolean): Promise<ReadonlyMap<string, number>> {
  const db = await testDatabase({ own: true, connections: 1, prepare });
  const { plans } = await watchPlans(db);
  for (let n = 0; n < before; n += 1) await liveOf(db, 1);
  plans.length = 0;
  await liveOf(db, many);
  return new Map(plans.map((plan) => [plan.name, plan.rows]));
}

test("a thousand rows after calls of one row, on one connection, cost at most twice what a plan of their own does", async () => {
  const [kept, fresh] = [await rowsOfMany(callsOfOne, true), await rowsOfMany(0, false)];
  const names = ["insert", "claim", "heartbeat", "settle-success"];
  const dear = names.filter((name) => (kept.get(name) ?? Number.NaN) > 2 * (fresh.get(name) ?? Number.NaN));
  expect(names.filter((name) => (fresh.get(name) ?? 0) < many || !kept.has(name))).toEqual([]);
  expect(dear).toEqual([]);
});
