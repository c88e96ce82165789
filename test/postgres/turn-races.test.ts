/** Races of dispatches that share a lane. */
import { expect, test } from "vitest";
import { lockTurnLane, takeTurns } from "../../src/postgres/sql/turn.ts";
import { execute } from "../../src/postgres/statement.ts";
import { insertMany, insertAlike } from "../contract/store/fixture.ts";
import { testDatabase } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";
import { messagesOf, untilWaiting } from "./race.ts";

const db = eachTest(() => testDatabase({ connections: 3 }));
const { store, connections } = db;

test("a dispatch that waited for another of its lane counts what that one sent", async () => {
  await store.installTurns([{ lane: "bulk", places: 4, ahead: 5, agingMs: 1_000 }]);
  const turn = { heldOn: "turn:bulk#0#a", weight: 1 };
  await insertAlike(store, 20, { lane: "bulk", turn });
  await store.takeTurns({ of: { lanes: [], keys: [turn.heldOn] }, limit: 1 });
  const first = await connections.tx.connect();
  await first.query("begin");
  await execute(first, lockTurnLane, ["bulk"]);
  expect(await execute(first, takeTurns, ["bulk", 3])).toHaveLength(3);
  // Of another key, so that it is not the same rows that both would send.
  const other = { heldOn: "turn:bulk#0#b", weight: 1 };
  await insertAlike(store, 4, { lane: "bulk", turn: other });
  const second = store.takeTurns({ of: { lanes: [], keys: [other.heldOn] }, limit: 100 });
  await untilWaiting(db);
  await first.query("commit");
  first.release();
  expect(messagesOf(await second)).toHaveLength(1);
});

test("a key that is marked while a dispatch finds nothing of it stays marked", async () => {
  await store.installTurns([{ lane: "bulk", places: 4, ahead: 5, agingMs: 1_000 }]);
  const turn = { heldOn: "turn:bulk#0#a", weight: 1 };
  await insertMany(store, [{ lane: "bulk", turn }]);
  const of = { lanes: [], keys: [turn.heldOn] };
  expect(messagesOf(await store.takeTurns({ of, limit: 10 }))).toHaveLength(1);
  const late = await connections.tx.connect();
  await late.query("begin");
  await late.query("update belfry.turn set marks = marks + 1 where lane = 'bulk'");
  const empty = store.takeTurns({ of: "all", limit: 10 });
  await untilWaiting(db);
  await late.query("commit");
  late.release();
  expect(messagesOf(await empty)).toEqual([]);
  expect((await db.pool.query("select waits from belfry.turn")).rows).toEqual([{ waits: true }]);
});
