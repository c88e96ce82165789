/** A change of a schedule in the very moment in which its prematerialized targets are written or become due. */
import { beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../src/machine/store.ts";
import { minute } from "../contract/store/fixture.ts";
import {
  beginWriting,
  cancelPages,
  dispatchWindowMs,
  quizAt,
  prematerialized,
} from "../contract/store/prematerialized.ts";
import { ledger } from "../contract/store/schedule-fixture.ts";
import { untilWaiting } from "../postgres/race.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { aPause } from "../support/pause.ts";

const second = 1_000;
let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase({ own: true, connections: 6, txConnections: 4, dispatchWindowMs });
  await db.pool.query(`create function gate() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(7); return case when tg_op = 'DELETE' then old else new end; end $$`);
});

const atCommitOfSchedule = `create constraint trigger gate after insert or update or delete on belfry.schedule
  deferrable initially deferred for each row execute function gate()`;
const atInsertOf = (table: string, when: string): string =>
  `create trigger gate before insert on belfry.${table} for each row when (${when}) execute function gate()`;

/** Whatever reaches this trigger waits there. @returns a function that lets it go on. */
async function shut(trigger: string): Promise<() => Promise<void>> {
  await db.pool.query(trigger);
  const holder = await db.pool.connect();
  await holder.query("select pg_advisory_lock(7)");
  return async () => {
    await holder.query("select pg_advisory_unlock(7)");
    holder.release();
  };
}

const changes: readonly (readonly [string, (store: Store, nominalAt: number) => Promise<unknown>])[] = [
  ["a pause", (store) => store.pauseSchedule("every-minute", aPause)],
  ["an edit", (store, nominalAt) => store.updateSchedule(quizAt(nominalAt + minute))],
  ["a deletion", (store) => store.deleteSchedule("every-minute")],
];

describe("in the moment of the nominal time", () => {
  test.each(changes)("%s that commits after it stops none of the targets, or all", async (_name, change) => {
    const { store, clock } = db;
    const { nominalAt, runId, messages } = await prematerialized(store);
    await clock.advance(nominalAt - (await store.now()) - second);
    const letGo = await shut(atCommitOfSchedule);
    const changing = change(store, nominalAt);
    await untilWaiting(db);
    await clock.advance(2 * second);
    const [first, ...others] = messages;
    const claim = async (some: typeof messages) => (await store.claim(some, { worker: "w", alone: false })).claimed;
    const before = await claim(first === undefined ? [] : [first]);
    await letGo();
    await changing;
    const after = await claim(others);
    expect([...before, ...after].map(({ state }) => state)).toEqual(["RUNNING", "RUNNING"]);
    expect(await store.run(runId)).toMatchObject({ state: "RUNNING" });
    expect(await ledger(store)).toMatchObject([{ outcome: "FIRED" }]);
  });

  test.each(changes)(
    "%s that took from long before it until after it stops none of the targets",
    async (_name, change) => {
      const { store, clock } = db;
      const { nominalAt, runId, messages } = await prematerialized(store);
      await clock.advance(nominalAt - (await store.now()) - 10 * second);
      const letGo = await shut(
        `create trigger gate before update or delete on belfry.schedule for each row execute function gate()`,
      );
      const changing = change(store, nominalAt);
      await untilWaiting(db);
      await clock.advance(11 * second);
      await letGo();
      await changing;
      const { claimed } = await store.claim(messages, { worker: "w", alone: false });
      expect(claimed.map(({ state }) => state)).toEqual(["RUNNING", "RUNNING"]);
      expect(await store.run(runId)).toMatchObject({ state: "RUNNING" });
      expect(await ledger(store)).toMatchObject([{ outcome: "FIRED" }]);
    },
  );

  test("a resume that commits after it starts none of the targets", async () => {
    const { store, clock } = db;
    const { nominalAt, runId, messages } = await prematerialized(store);
    await store.pauseSchedule("every-minute", aPause);
    await clock.advance(nominalAt - (await store.now()) - second);
    await store.pauseSchedule("every-minute", null);
    await clock.advance(2 * second);
    const { claimed } = await store.claim(messages, { worker: "w", alone: false });
    expect(claimed.map(({ state }) => state)).toEqual(["CANCELED", "CANCELED"]);
    await cancelPages(store, runId);
    expect(await store.run(runId)).toMatchObject({ state: "CANCELED" });
    expect(await ledger(store)).toMatchObject([{ outcome: "SKIPPED", reason: "paused" }]);
  });
});

describe("a starter that is withdrawn while it writes", () => {
  async function writing() {
    const nominalAt = (await db.store.now()) + 10 * minute;
    await db.store.createSchedule(quizAt(nominalAt));
    return { nominalAt, ...(await beginWriting(db.store, nominalAt)) };
  }
  const states = async (): Promise<readonly string[]> =>
    (await db.pool.query<{ state: string }>("select state from belfry.job where kind = 'push' order by id")).rows.map(
      ({ state }) => state,
    );

  test("a page: it is written, the withdrawal waits for it, and none of its targets runs", async () => {
    const { store } = db;
    const { nominalAt, runId, addPage } = await writing();
    const letGo = await shut(atInsertOf("job", "new.kind = 'push'"));
    const page = addPage();
    await untilWaiting(db);
    const withdrawn = store.updateSchedule(quizAt(nominalAt + minute));
    await untilWaiting(db, 2);
    await letGo();
    expect(await page).toMatchObject({ written: true, created: 2 });
    await withdrawn;
    expect(await addPage()).toMatchObject({ written: false });
    await cancelPages(store, runId);
    expect(await states()).toEqual(["CANCELED", "CANCELED"]);
    expect(await store.run(runId)).toMatchObject({ state: "CANCELED" });
    expect(await ledger(store)).toEqual([]);
  });

  test("a page that meets a withdrawal under way waits for it, and is not written", async () => {
    const { store } = db;
    const { nominalAt, runId, addPage } = await writing();
    const letGo = await shut(atCommitOfSchedule);
    const withdrawn = store.updateSchedule(quizAt(nominalAt + minute));
    await untilWaiting(db);
    const page = addPage();
    await untilWaiting(db, 2);
    await letGo();
    await withdrawn;
    expect(await page).toMatchObject({ written: false });
    await cancelPages(store, runId);
    expect(await states()).toEqual([]);
    expect(await store.run(runId)).toMatchObject({ state: "CANCELED" });
  });
});
