import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { migrate } from "../../src/adapters/postgres/migrate.ts";
import { createOperations } from "../../src/adapters/postgres/operations.ts";
import type { Operations } from "../../src/core/ports/operations.ts";
import { insertOne } from "../contract/store/fixture.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";

describe("the epoch of the events", () => {
  let db: TestDatabase;
  let operations: Operations;
  beforeEach(async () => {
    db = await freshDatabase({ own: true });
    operations = createOperations(db.connections);
  });
  afterEach(() => db.close());

  const nameOf = async (): Promise<string | undefined> =>
    (await db.pool.query<{ name: string }>("select name from belfry.epoch order by number desc limit 1")).rows[0]?.name;
  /** What another server than the one of the newest epoch finds in its rows. */
  const nowOn = (server: string) =>
    db.pool.query("update belfry.epoch set server = $1 where number = (select max(number) from belfry.epoch)", [
      server,
    ]);
  const promoted = () => db.pool.query("update belfry.epoch set server = split_part(belfry.server(), '/', 1) || '/0'");
  const created = async () =>
    (await operations.minutes({ since: 0, kinds: null, lane: null })).reduce((sum, { created: n }) => sum + n, 0);
  const addedUp = async () => {
    while ((await operations.rollUp(100)) > 0);
    return await created();
  };

  test("a promoted copy tells each reader of a gap once, and the publisher goes on where its books say", async () => {
    await operations.reader("publisher");
    const { cursor } = await operations.stream(null, 10);
    const id = await insertOne(db.store);
    await promoted();
    const page = await operations.stream(cursor, 10);
    expect(page).toMatchObject({ isGap: true, events: [] });
    expect(await operations.stream(page.cursor, 10)).toMatchObject({ isGap: false });
    const publisher = await operations.reader("publisher");
    expect(publisher).not.toBeNull();
    if (publisher === null) return;
    const published = await operations.stream(publisher.cursor, 10);
    expect(published.isGap).toBe(false);
    expect(published.events.map((event) => event.jobId)).toEqual([id]);
  });

  test("an event of the new epoch has another id than one that was lost, also where all numbers are the same", async () => {
    const { cursor } = await operations.stream(null, 10);
    await insertOne(db.store);
    const [before] = (await operations.stream(cursor, 10)).events;
    await migrate({ url: db.url, isRestored: true });
    const again = cursor.replace(/^[0-9a-f]{8}/, (await nameOf()) ?? "");
    const [after] = (await operations.stream(again as typeof cursor, 10)).events;
    expect(after?.jobId).toBe(before?.jobId);
    expect(after?.id).not.toBe(before?.id);
  });

  test("a move to another server gives no old event again, however far its transactions count", async () => {
    for (let n = 0; n < 3; n += 1) await insertOne(db.store);
    // The old server was far ahead: each of its transactions looks as if it were still to come.
    await db.pool.query("update belfry.event set xid = (xid::text::bigint + 100)::text::xid8");
    await operations.reader("publisher");
    await db.pool.query(
      "insert into belfry.reader (name, upto) select 'roll-up', min(xid)::text from belfry.event on conflict (name) do update set upto = excluded.upto",
    );
    const before = await operations.stream(null, 10);
    await nowOn("17/1");
    expect(await migrate({ url: db.url })).toMatchObject({ epoch: 2 });
    expect(await created()).toBe(3);
    expect(await operations.stream(before.cursor, 10)).toMatchObject({ isGap: true });
    const publisher = await operations.reader("publisher");
    if (publisher === null) throw new Error("the publisher has no place");
    expect(await operations.stream(publisher.cursor, 10)).toMatchObject({ isGap: true });
    const { cursor } = await operations.stream(null, 10);
    for (let n = 0; n < 150; n += 1) await db.pool.query("select pg_current_xact_id()");
    expect((await operations.stream(cursor, 10)).events).toEqual([]);
    expect(await addedUp()).toBe(3);
    const id = await insertOne(db.store);
    expect((await operations.stream(cursor, 10)).events.map((event) => event.jobId)).toEqual([id]);
    // An open transaction of any database on the server delays the roll-up.
    await vi.waitFor(async () => expect(await addedUp()).toBe(4), 20_000);
  });

  test("sequences that did not come along are raised by migrate; until then no process begins an epoch", async () => {
    for (let n = 0; n < 3; n += 1) await insertOne(db.store);
    await db.pool.query("select setval('belfry.event_id_seq', 1), setval('belfry.job_id_seq', 1)");
    await nowOn("17/1");
    await expect(operations.stream(null, 1)).rejects.toThrow(/sequences did not come along .* belfry migrate/);
    await migrate({ url: db.url });
    const id = await insertOne(db.store);
    expect(Number(id)).toBeGreaterThan(3);
  });

  test("two processes that notice at once begin one epoch", async () => {
    await nowOn("17/1");
    await Promise.all(Array.from({ length: 4 }, () => operations.stream(null, 1)));
    const { rows } = await db.pool.query<{ number: number }>("select number from belfry.epoch order by 1");
    expect(rows).toEqual([{ number: 1 }, { number: 2 }]);
  });
});
