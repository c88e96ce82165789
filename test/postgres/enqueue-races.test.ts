import type { PoolClient } from "pg";
import { expect, test, vi } from "vitest";
import { definitionOf, defineJob } from "../../src/define/define-job.ts";
import { createClient } from "../../src/run/enqueue.ts";
import type { Tx } from "../../src/machine/transaction.ts";
import { world } from "../core/world.ts";
import { aJob } from "../contract/store/fixture.ts";
import { testDatabase, otherSession } from "../support/database.ts";
import { untilWaiting } from "./race.ts";

const job = definitionOf(defineJob({ id: "keyed", run() {} }));
const keys = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => ({
    payload: undefined,
    key: `key-${String(from + n).padStart(5, "0")}`,
  }));

test("two callers that enqueue thousands of the same keys, each in an order and a transaction of its own, both commit", async () => {
  const db = await testDatabase();
  const client = createClient(world(() => ({ store: db.store })));
  const inserted = [0, 0];
  const isWaiting = async (): Promise<boolean> => {
    const { rows } = await db.pool.query<{ waits: boolean }>(
      "select exists (select from pg_locks where not granted) as waits",
    );
    return rows[0]?.waits === true;
  };
  /** Holds the second page until the other caller has written its first, or waits for what this one holds. */
  const paced = (own: PoolClient, me: 0 | 1): Tx => ({
    async query(text, values) {
      const isInsert = text.includes("belfry:insert");
      if (isInsert && inserted[me] === 1) {
        await vi.waitFor(async () => expect((inserted[1 - me] ?? 0) > 0 || (await isWaiting())).toBe(true), {
          timeout: 30_000,
          interval: 5,
        });
      }
      const answer = await own.query(text, values);
      if (isInsert) inserted[me] = (inserted[me] ?? 0) + 1;
      return answer;
    },
  });
  const caller = async (me: 0 | 1, items: ReturnType<typeof keys>): Promise<number> => {
    const own = await otherSession(db.pool);
    const answers = await client.enqueue(job, items, { tx: paced(own, me) });
    await own.query("commit");
    return answers.filter(({ created }) => created).length;
  };
  const [low, middle, high] = [keys(0, 500), keys(500, 1_000), keys(1_000, 1_500)];
  const created = await Promise.all([caller(0, [...low, ...middle, ...high]), caller(1, [...high, ...middle, ...low])]);
  expect(created.toSorted((a, b) => a - b)).toEqual([0, 1_500]);
});

test("two callers that insert the same keys, each in an order of its own, are both answered behind a third", async () => {
  const db = await testDatabase();
  const keyed = (...of: readonly string[]) => of.map((key) => aJob({ key }));
  const third = await otherSession(db.pool);
  await db.store.insert(keyed("m"), { tx: third });
  // In transactions of their own: by itself the store would answer a deadlock by trying again.
  const inserted = async (jobs: ReturnType<typeof keyed>): Promise<number> => {
    const own = await otherSession(db.pool);
    const { results } = await db.store.insert(jobs, { tx: own });
    await own.query("commit");
    return results.filter(({ created }) => created).length;
  };
  const both = Promise.all([inserted(keyed("a", "m", "z")), inserted(keyed("z", "m", "a"))]);
  await untilWaiting(db, 2);
  await third.query("commit");
  expect((await both).toSorted()).toEqual([0, 2]);
});

test("more than a page in a caller's transaction is answered in the order of the input", async () => {
  const db = await testDatabase();
  const ports = world(() => ({ store: db.store }));
  const client = createClient(ports);
  const items = keys(0, 1_200).toReversed();
  const own = await otherSession(db.pool);
  const answers = await client.enqueue(job, items, { tx: own });
  await own.query("commit");
  const { rows } = await db.pool.query<{ id: string; key: string }>("select id, key from belfry.job");
  const keyOf = new Map(rows.map(({ id, key }) => [id, key]));
  expect(answers.map(({ id }) => keyOf.get(id))).toEqual(items.map(({ key }) => key));
  await answers[0]?.afterCommit?.();
  expect(ports.queue.size("default")).toBe(1_200);
});
