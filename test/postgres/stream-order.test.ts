/** Transactions that overlap in any way, and a reader that looks in between: on a real server, whose numbers these are. */
import fc from "fast-check";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { StreamPage } from "../../src/insight/event-stream.ts";
import type { Database } from "../../src/insight/sql-query.ts";
import { aJob, insertOne } from "../contract/store/fixture.ts";
import { testDatabase } from "../support/database.ts";
import { untilWaiting } from "./race.ts";
import { readOn } from "./read-on.ts";
import { readEvents } from "../../src/insight/stream.ts";

const clients = 5;
const client = fc.nat(clients - 1);
const script = fc.array(
  fc.oneof(
    {
      weight: 2,
      arbitrary: fc.record({ does: fc.constant("begin" as const), client, isNumbered: fc.boolean() }),
    },
    {
      weight: 5,
      // What is only drawn is written at the end of its transaction.
      arbitrary: fc.record({
        does: fc.constantFrom("move" as const, "move" as const, "draw" as const),
        client,
        job: fc.integer({ min: 1, max: 4 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ does: fc.constantFrom("commit" as const, "rollback" as const), client }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("look" as const), limit: fc.integer({ min: 1, max: 5 }) }) },
    // One page of a look, which goes on later.
    { weight: 1, arbitrary: fc.record({ does: fc.constant("page" as const), limit: fc.integer({ min: 1, max: 5 }) }) },
  ),
  { minLength: 20, maxLength: 60 },
);
type Step = typeof script extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

/** The second transaction draws its number first and ends last: the look's snapshot ends before it, and its last event is behind it. */
const beyondTheSnapshot: readonly Step[] = [
  { does: "begin", client: 0, isNumbered: true },
  { does: "begin", client: 1, isNumbered: true },
  { does: "move", client: 1, job: 1 },
  { does: "move", client: 0, job: 2 },
  { does: "commit", client: 0 },
  { does: "look", limit: 1 },
];

/** A transaction ends between two pages of a look, with an event in front of the first page's last one. */
const betweenPages: readonly Step[] = [
  { does: "begin", client: 0, isNumbered: true },
  { does: "move", client: 0, job: 1 },
  { does: "move", client: 1, job: 2 },
  { does: "move", client: 1, job: 3 },
  { does: "page", limit: 1 },
  { does: "commit", client: 0 },
];

/** An insert draws its event's id, sorts its rows and writes the first: a look in between sees what others wrote behind it. */
const betweenDrawAndWrite: readonly Step[] = [
  { does: "begin", client: 0, isNumbered: false },
  { does: "draw", client: 0, job: 1 },
  { does: "move", client: 1, job: 2 },
  { does: "look", limit: 1 },
  { does: "commit", client: 0 },
];

/** Draws the id of a move and writes it, as each statement does that moves a job whose row it has locked. */
const move = `
  insert into belfry.event (id, at, to_state, job_ids, attempts, generations)
  select coalesce($2, belfry.next_event()), now(), 'QUEUED', array[$1::bigint], array[0], array[1] returning id`;

interface Move {
  readonly id: number;
  readonly job: number;
}

/** What happened on the server, and what a reader of it saw. */
async function played(connected: readonly Client[], insight: Database, steps: readonly Step[]) {
  const committed: Move[] = [];
  const seen: Move[] = [];
  const open = new Map<number, Move[]>();
  const drawn = new Map<number, Move[]>();
  let { cursor } = await readEvents(insight, null, 1);
  const note = (read: Pick<StreamPage, "events" | "cursor">): void => {
    ({ cursor } = read);
    seen.push(...read.events.map(({ id, job }) => ({ id: Number(id.split(".")[2]), job: Number(job) })));
  };
  const end = async (at: number, how: "commit" | "rollback"): Promise<void> => {
    for (const { id, job } of drawn.get(at) ?? []) await connected[at]?.query(move, [job, id]);
    await connected[at]?.query(how);
    if (how === "commit") committed.push(...(open.get(at) ?? []), ...(drawn.get(at) ?? []));
    for (const ended of [open, drawn]) ended.delete(at);
  };
  const isLocked = ({ client: at, job }: { client: number; job: number }): boolean =>
    [...open, ...drawn].some(([other, moves]) => other !== at && moves.some((one) => one.job === job));
  for (const step of steps) {
    if (step.does === "look") note(await readOn(insight, cursor, step.limit));
    else if (step.does === "page") note(await readEvents(insight, cursor, step.limit));
    else if (step.does === "begin" && !open.has(step.client)) {
      await connected[step.client]?.query(step.isNumbered ? "begin; select pg_current_xact_id()" : "begin");
      open.set(step.client, []);
      drawn.set(step.client, []);
    } else if (step.does === "draw" && open.has(step.client) && !isLocked(step)) {
      const next = await connected[step.client]?.query<{ id: string }>("select belfry.next_event() as id");
      drawn.get(step.client)?.push({ id: Number(next?.rows[0]?.id), job: step.job });
    } else if (step.does === "move" && !isLocked(step)) {
      const moved = await connected[step.client]?.query<{ id: string }>(move, [step.job, null]);
      (open.get(step.client) ?? committed).push({ id: Number(moved?.rows[0]?.id), job: step.job });
    } else if ((step.does === "commit" || step.does === "rollback") && open.has(step.client)) {
      await end(step.client, step.does);
    }
  }
  for (const at of open.keys()) await end(at, "commit");
  // The rest of a look that stopped at a page, and all that came after it.
  for (const limit of [2, 2]) note(await readOn(insight, cursor, limit));
  return { committed, seen };
}

test(
  "each move of what was committed comes once, and those of a job in their order",
  { timeout: 120_000 },
  async () => {
    const database = await testDatabase({ own: true, connections: 2 });
    const connected = Array.from({ length: clients }, () => new Client({ connectionString: database.url }));
    await Promise.all(connected.map((one) => one.connect()));
    onTestFinished(async () => void (await Promise.all(connected.map((one) => one.end()))));
    const { insight } = database;
    const byId = (a: Move, b: Move): number => a.id - b.id;
    await fc.assert(
      fc.asyncProperty(script, async (steps) => {
        const { committed, seen } = await played(connected, insight, steps);
        expect(seen.toSorted(byId)).toEqual(committed.toSorted(byId));
        for (const moves of Map.groupBy(seen, ({ job }) => job).values()) expect(moves).toEqual(moves.toSorted(byId));
      }),
      { numRuns: 40, examples: [beyondTheSnapshot, betweenPages, betweenDrawAndWrite].map((steps) => [[...steps]]) },
    );
  },
);

test("an insert that waits between its draw and its write gives its event to a reader that looked in between", async () => {
  const db = await testDatabase({ connections: 4 });
  const other = await db.pool.connect();
  onTestFinished(() => other.release(true));
  const { insight } = db;
  // The first draws of a sequence write to the log, which would give a number by chance.
  await insertOne(db.store);
  const { cursor } = await readEvents(insight, null, 1);
  const key = { kind: "mail", key: "one" };
  await other.query("begin");
  await db.store.insert([aJob(key)], { tx: other });
  const waits = insertOne(db.store, key);
  await untilWaiting(db);
  const after = await insertOne(db.store);
  const look = await readOn(insight, cursor, 10);
  expect(look.events.map(({ job }) => job)).toEqual([after]);
  await other.query("rollback");
  const waited = await waits;
  const next = await readOn(insight, look.cursor, 10);
  expect(next.events.map(({ job }) => job)).toEqual([waited]);
});

test.each(["before", "after"])(
  "a wide row whose transaction began %s that of the look's last event comes whole, by pages smaller than it",
  async (began) => {
    const db = await testDatabase({ connections: 4 });
    const late = await db.pool.connect();
    const early = await db.pool.connect();
    onTestFinished(() => {
      for (const one of [late, early]) one.release(true);
    });
    const { insight } = db;
    const { cursor } = await readEvents(insight, null, 1);
    for (const one of began === "before" ? [late, early] : [early, late]) {
      await one.query("begin; select pg_current_xact_id()");
    }
    const wide = await db.store.insert(
      Array.from({ length: 7 }, () => aJob()),
      { tx: late },
    );
    const narrow = await db.store.insert([aJob()], { tx: early });
    await early.query("commit");
    const jobs = (results: readonly { readonly id: string }[]) => results.map(({ id }) => id).toSorted();
    const look = await readOn(insight, cursor, 10);
    expect(look.events.map(({ job }) => job)).toEqual(jobs(narrow.results));
    await late.query("commit");
    const next = await readOn(insight, look.cursor, 2);
    expect(next.events.map(({ job }) => job).toSorted()).toEqual(jobs(wide.results));
  },
);

test("an event whose id was drawn without the transaction's number is refused by the event check", async () => {
  const db = await testDatabase({ own: true });
  const write = "insert into belfry.event (id, at, to_state, job_ids, attempts, generations)";
  const drawn = `${write} select ID, belfry.now(), 'QUEUED', '{1}', '{0}', '{1}'`;
  const byHand = drawn.replace("ID", "nextval((select oid from pg_class where relname = 'event_id_seq'))");
  await expect(db.pool.query(byHand)).rejects.toThrow("did not draw it with belfry.next_event()");
  await db.pool.query(drawn.replace("ID", "belfry.next_event()"));
  await db.pool.query(`create or replace function belfry.draw_event() returns bigint language sql volatile
    return nextval((select oid from pg_class where relname = 'event_id_seq'))`);
  // The first draw after a checkpoint is logged, which gives its transaction a number.
  await db.pool.query("select belfry.draw_event()");
  await expect(db.pool.query("select belfry.next_event()")).rejects.toThrow("a transaction without a number");
});
