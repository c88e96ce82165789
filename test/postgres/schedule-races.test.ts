/** A change of a schedule beside the time of targets that are written already. */
import { expect, onTestFinished, test } from "vitest";
import { minute, only } from "../contract/store/fixture.ts";
import { dispatchWindowMs, prematerialized, quizAt } from "../contract/store/prematerialized.ts";
import { occurrenceAt, planned } from "../contract/store/schedule-fixture.ts";
import { freshDatabase } from "../support/database.ts";
import { untilWaiting } from "./race.ts";

test("a change that took until the time of written targets is made again, behind that time's decision", async () => {
  const db = await freshDatabase({ dispatchWindowMs });
  onTestFinished(() => db.close());
  const { store, pool, clock } = db;
  const { nominalAt } = await prematerialized(store);
  await planned(store, [occurrenceAt(nominalAt + 60 * minute)]);
  const holder = await pool.connect();
  // The change withdraws the later time, whose job it waits for.
  await holder.query("begin; select id from belfry.job where state = 'PENDING' for update");
  const changing = store.updateSchedule(quizAt(nominalAt, { payload: { changed: true } }));
  await untilWaiting(db);
  await clock.advance(nominalAt - (await store.now()));
  await holder.query("rollback");
  holder.release();
  expect(await changing).toMatchObject({ version: 2 });
  const { rows } = await pool.query("select prematerialized_for as time, withdrawn from belfry.run");
  expect(only(rows)).toEqual({ time: null, withdrawn: null });
});
