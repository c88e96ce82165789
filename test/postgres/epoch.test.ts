import { describe, expect, test, vi } from "vitest";
import { migrate } from "../../src/postgres/migrate.ts";
import { insertOne } from "../contract/store/fixture.ts";
import { testDatabase } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";
import { openReader } from "../../src/insight/reader.ts";
import { readEvents } from "../../src/insight/stream.ts";
import { readMinutes } from "../../src/insight/minutes.ts";

describe("the epoch of the events", () => {
  const db = eachTest(() => testDatabase({ own: true }));

  const nameOf = async (): Promise<string | undefined> =>
    (await db.pool.query<{ name: string }>("select name from belfry.epoch order by number desc limit 1")).rows[0]?.name;
  /** What another server than the one of the newest epoch finds in its rows. */
  const nowOn = (server: string) =>
    db.pool.query("update belfry.epoch set server = $1 where number = (select max(number) from belfry.epoch)", [
      server,
    ]);
  const promoted = () => db.pool.query("update belfry.epoch set server = split_part(belfry.server(), '/', 1) || '/0'");
  const created = async () =>
    (await db.insight.run(readMinutes, { back: 1e6, kinds: null, lane: null })).reduce(
      (sum, { created: n }) => sum + n,
      0,
    );
  const addedUp = async () => {
    while ((await db.tally.rollUp(100)) > 0);
    return await created();
  };

  test("a promoted copy shows each reader a gap once, and the publisher goes on where its books say", async () => {
    await openReader(db.insight, "publisher");
    const { cursor } = await readEvents(db.insight, null, 10);
    const id = await insertOne(db.store);
    await promoted();
    const page = await readEvents(db.insight, cursor, 10);
    expect(page).toMatchObject({ isGap: true, events: [] });
    expect(await readEvents(db.insight, page.cursor, 10)).toMatchObject({ isGap: false });
    const publisher = await openReader(db.insight, "publisher");
    expect(publisher).not.toBeNull();
    if (publisher === null) return;
    const published = await readEvents(db.insight, publisher.cursor, 10);
    expect(published.isGap).toBe(false);
    expect(published.events.map((event) => event.job)).toEqual([id]);
  });

  test("an event and a job of the new epoch have other ids than those that were lost, also where all numbers are the same", async () => {
    const { cursor } = await readEvents(db.insight, null, 10);
    await insertOne(db.store);
    const [before] = (await readEvents(db.insight, cursor, 10)).events;
    await migrate({ url: db.url, isRestored: true });
    expect(Number(await insertOne(db.store))).toBeGreaterThan(1_000_000_000);
    const { rows } = await db.pool.query(
      "select nextval('belfry.run_id_seq')::float8 as run, nextval('belfry.bulk_id_seq')::float8 as bulk",
    );
    expect(Math.min(...Object.values(rows[0] as object).map(Number))).toBeGreaterThan(1_000_000_000);
    const again = cursor.replace(/^[0-9a-f]{8}/, (await nameOf()) ?? "");
    const [after] = (await readEvents(db.insight, again as typeof cursor, 10)).events;
    expect(after?.job).toBe(before?.job);
    expect(after?.id).not.toBe(before?.id);
  });

  test("a move to another server gives no old event again, however far its transactions count", async () => {
    for (let n = 0; n < 3; n += 1) await insertOne(db.store);
    // The old server was far ahead: each of its transactions looks as if it were still to come.
    await db.pool.query("update belfry.event set xid = (xid::text::bigint + 100)::text::xid8");
    await openReader(db.insight, "publisher");
    await db.pool.query(
      "insert into belfry.reader (name, upto) select 'roll-up', min(xid)::text from belfry.event on conflict (name) do update set upto = excluded.upto",
    );
    const before = await readEvents(db.insight, null, 10);
    await nowOn("17/1");
    expect(await migrate({ url: db.url })).toMatchObject({ epoch: 2 });
    expect(await created()).toBe(3);
    expect(await readEvents(db.insight, before.cursor, 10)).toMatchObject({ isGap: true });
    const publisher = await openReader(db.insight, "publisher");
    if (publisher === null) throw new Error("the publisher has no place");
    expect(await readEvents(db.insight, publisher.cursor, 10)).toMatchObject({ isGap: true });
    const { cursor } = await readEvents(db.insight, null, 10);
    for (let n = 0; n < 150; n += 1) await db.pool.query("select pg_current_xact_id()");
    expect((await readEvents(db.insight, cursor, 10)).events).toEqual([]);
    expect(await addedUp()).toBe(3);
    const id = await insertOne(db.store);
    // An open transaction of any database on the server delays both readers.
    await vi.waitFor(async () => {
      expect((await readEvents(db.insight, cursor, 10)).events.map((event) => event.job)).toEqual([id]);
      expect(await addedUp()).toBe(4);
    }, 20_000);
  });

  test("sequences that did not come along are raised by migrate; until then no process begins an epoch", async () => {
    for (let n = 0; n < 3; n += 1) await insertOne(db.store);
    await db.pool.query("select setval('belfry.event_id_seq', 1), setval('belfry.job_id_seq', 1)");
    await nowOn("17/1");
    await expect(readEvents(db.insight, null, 1)).rejects.toThrow(/sequences did not come along .* belfry migrate/);
    await migrate({ url: db.url });
    const id = await insertOne(db.store);
    expect(Number(id)).toBeGreaterThan(3);
  });

  test("two processes that notice at once begin one epoch", async () => {
    await nowOn("17/1");
    await Promise.all(Array.from({ length: 4 }, () => readEvents(db.insight, null, 1)));
    const { rows } = await db.pool.query<{ number: number }>("select number from belfry.epoch order by 1");
    expect(rows).toEqual([{ number: 1 }, { number: 2 }]);
  });
});
