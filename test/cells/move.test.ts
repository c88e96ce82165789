import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { createCellStore } from "../../src/postgres/cell-store.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { createSession } from "../../src/postgres/session.ts";
import { cellsNow, changeCells, initCells } from "../../src/cells/move.ts";
import { cellOf, CellsFailed, createCellsClient, type OpenCell } from "../../src/cells/routing.ts";
import { defineJob, definitionOf } from "../../src/define/define-job.ts";
import { createClient } from "../../src/run/enqueue.ts";
import { CellMapChanged } from "../../src/machine/fence.ts";
import { untilWaiting } from "../postgres/race.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";

const job = defineJob({ id: "work", payload: z.object({ n: z.number() }), run: () => {} });
const definition = definitionOf(job);
const names = ["a", "b"] as const;
const half = { from: "00000000", to: "3fffffff" };

interface Cell extends OpenCell {
  readonly database: TestDatabase;
  readonly store: ReturnType<typeof createCellStore>;
}

let cells: Map<string, Cell>;
let stores: Map<string, Cell["store"]>;

beforeEach(async () => {
  cells = new Map();
  for (const [number, name] of names.entries()) {
    const database = await freshDatabase({ own: true, connections: 8 });
    await migrate({ url: database.url, cell: number });
    cells.set(name, { database, ...openOn(database) });
  }
  stores = new Map([...cells].map(([name, { store }]) => [name, store]));
  await initCells(stores, Object.fromEntries(names.map((name, number) => [name, { number, stage: name }])));
});

afterEach(async () => {
  for (const { database } of cells.values()) await database.close();
});

function openOn(database: TestDatabase) {
  const ports = {
    store: database.store,
    queue: { send: async () => ({ failed: [] }) },
    clock: { elapsedMs: () => 0, sleep: async () => {}, after: () => () => {} },
    random: { next: () => 0.5, id: () => "trace" },
    log: console,
    metrics: { add: () => {}, flush: () => {} },
  } as unknown as Parameters<typeof createClient>[0];
  return {
    client: createClient(ports),
    store: createCellStore(createSession(database.connections.main, database.connections.where)),
  };
}

const of = (name: string): Cell => cells.get(name) as Cell;
const keysOf = async (name: string): Promise<readonly string[]> =>
  (await of(name).database.pool.query<{ key: string }>("select key from belfry.job where key is not null")).rows.map(
    ({ key }) => key,
  );
const item = (key: string, n = 1) => ({ payload: { n }, key });
const keyIn = async (name: string, tries = 0): Promise<string> => {
  const map = await of("a").store.map();
  return map !== null && cellOf(map, `k${tries}`) === name ? `k${tries}` : await keyIn(name, tries + 1);
};

test("each job lies in the cell of its key, its id shows which, and answers come in the order of the input", async () => {
  const client = createCellsClient(cells);
  const map = await of("a").store.map();
  const keys = Array.from({ length: 50 }, (_, index) => `k${index}`);
  const answers = await client.enqueue(
    definition,
    keys.map((key) => item(key)),
  );
  for (const [index, { id, created }] of answers.entries()) {
    expect(created).toBe(true);
    expect(names[Number(BigInt(id) % 64n)]).toBe(cellOf(map as NonNullable<typeof map>, `k${index}`));
  }
  expect((await keysOf("a")).length + (await keysOf("b")).length).toBe(50);
  const again = await client.enqueue(
    definition,
    keys.map((key) => item(key)),
  );
  expect(again.map(({ id, created }) => [id, created])).toEqual(answers.map(({ id }) => [id, false]));
});

test("jobs without a key take turns; a cell that is away is left out", async () => {
  const client = createCellsClient(cells);
  await client.enqueue(
    definition,
    Array.from({ length: 4 }, () => ({ payload: { n: 1 } })),
  );
  const counts = async () =>
    await Promise.all(
      names.map(async (name) =>
        Number((await of(name).database.pool.query("select count(*) from belfry.job")).rows[0].count),
      ),
    );
  expect(await counts()).toEqual([2, 2]);
  await of("b").database.connections.close();
  await expect(client.enqueue(definition, [item(await keyIn("b"))])).rejects.toThrow(CellsFailed);
});

test("a moved key answers with the job of the old cell, and conflicts with it", async () => {
  const client = createCellsClient(cells);
  const key = await keyIn("a");
  const map = await of("a").store.map();
  const range = map?.ranges.find(({ cell }) => cell === "a");
  const [before] = await client.enqueue(definition, [item(key)]);
  await changeCells(stores, { from: range?.from ?? "", to: range?.to ?? "", cell: "b" });
  expect(await createCellsClient(cells).enqueue(definition, [item(key)])).toEqual([{ id: before?.id, created: false }]);
  // A client that still has the map of before is refused, reads the new one and gets the same answer.
  expect(await client.enqueue(definition, [item(key)])).toEqual([{ id: before?.id, created: false }]);
  await expect(client.enqueue(definition, [item(key, 2)])).rejects.toThrow("already belongs to job");
  expect(await keysOf("b")).toEqual([]);
  await of("a").database.pool.query("delete from belfry.job");
  await changeCells(stores, { forget: "a" });
  expect(await client.enqueue(definition, [item(key)])).toMatchObject([{ created: true }]);
  expect(await keysOf("b")).toEqual([key]);
});

test("while ranges move to and fro under concurrent clients, no key is made twice and none is lost", async () => {
  const keys = Array.from({ length: 150 }, (_, index) => `race-${index}`);
  const clients = Array.from({ length: 4 }, () => createCellsClient(cells));
  const writing = clients.map(async (client) => {
    for (const key of keys) await client.enqueue(definition, [item(key)]);
  });
  const done = new AbortController();
  const moving = (async () => {
    let moves = 0;
    for (; !done.signal.aborted; moves += 1) await changeCells(stores, { ...half, cell: moves % 2 === 0 ? "b" : "a" });
    return moves;
  })();
  await Promise.all(writing).finally(() => done.abort());
  expect(await moving).toBeGreaterThan(3);
  const all = [...(await keysOf("a")), ...(await keysOf("b"))];
  expect(all.toSorted()).toEqual(keys.toSorted());
});

const quarter = { from: "40000000", to: "7fffffff" };
const standing = async () =>
  await Promise.all(
    [...stores.values()].map(async (store) => {
      const map = await store.map();
      return [map?.version, ...(map?.ranges ?? []).map(({ from, cell }) => `${from} ${cell}`)];
    }),
  );

test("two moves at the same moment are both made, one after the other", async () => {
  const moved = await Promise.all([half, quarter].map((range) => changeCells(stores, { ...range, cell: "b" })));
  expect(moved.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual([3, 5]);
  const map = [5, "00000000 b", "40000000 b", "80000000 b"];
  expect(await standing()).toEqual([map, map]);
});

test.each([
  ["after it began", "a", [2, 1]],
  ["before the cell that gets the range had the map", "b", [3, 1]],
])("a move whose process ended %s is completed by the next change", async (_, name, versions) => {
  const { store } = of(name);
  const ended: typeof store.install = (map) =>
    map.version === 3 ? Promise.reject(new Error("the process ended")) : store.install(map);
  const own = new Map([...stores, [name, { ...store, install: ended }]]);
  await expect(changeCells(own, { ...half, cell: "b" })).rejects.toThrow("the process ended");
  expect((await cellsNow(stores)).map(({ version }) => version)).toEqual(versions);
  await changeCells(stores, { ...quarter, cell: "b" });
  const map = [5, "00000000 b", "40000000 b", "80000000 b"];
  expect(await standing()).toEqual([map, map]);
});

test("a move waits for a write under way in the old cell, and ends later ones under the old map", async () => {
  const key = await keyIn("a");
  const held = await of("a").database.pool.connect();
  try {
    await held.query("begin");
    const [first] = await of("a").client.enqueue(definition, [item(key)], { tx: held, mapVersion: 1 });
    expect(first?.created).toBe(true);
    let isMoved = false;
    const moving = changeCells(stores, { ...half, cell: "b" }).then(() => (isMoved = true));
    const waiting = `select from pg_locks join pg_database d on d.oid = database
      where locktype = 'advisory' and not granted and datname = current_database()`;
    await expect.poll(async () => (await of("a").database.pool.query(waiting)).rowCount).toBe(1);
    expect(isMoved).toBe(false);
    await held.query("commit");
    await moving;
  } finally {
    held.release();
  }
  await expect(of("a").client.enqueue(definition, [item("later")], { mapVersion: 1 })).rejects.toThrow(CellMapChanged);
  expect((await keysOf("a")).length).toBe(1);
});

test("a write that waited for a move is judged by the map that the move installed", async () => {
  const { database, client } = of("a");
  const move = await database.pool.connect();
  try {
    await move.query("begin; select pg_advisory_xact_lock(hashtextextended('belfry.fence:cell-map', 0))");
    const writing = client.enqueue(definition, [item(await keyIn("a"))], { mapVersion: 1 });
    const late = writing.catch((error: unknown) => error);
    await untilWaiting(database);
    await move.query("update belfry.cell_map set version = 2; commit");
    expect(await late).toBeInstanceOf(CellMapChanged);
  } finally {
    move.release();
  }
  expect(await keysOf("a")).toEqual([]);
});

test("tx needs the cell it is of, and a key of another cell is refused there", async () => {
  const client = createCellsClient(cells);
  const tx = of("a").database.pool;
  await expect(client.enqueue(definition, [item("x")], { tx })).rejects.toThrow("name the cell of the transaction");
  await expect(client.enqueue(definition, [item(await keyIn("b"))], { tx, cell: "a" })).rejects.toThrow(
    'belongs to "b"',
  );
  await expect(of("a").client.enqueue(definition, [item("x")], { cell: "a" })).rejects.toThrow(
    "connected to one stage",
  );
});

test("a move that ended halfway is brought to all cells by the next one", async () => {
  const map = await changeCells(stores, { ...half, cell: "b" });
  const ahead = { ...map, version: map.version + 1 };
  await of("b").store.install(ahead);
  expect((await cellsNow(stores)).map(({ version }) => version)).toEqual([3, 4]);
  expect((await changeCells(stores, { ...half, cell: "a" })).version).toBe(6);
  expect((await cellsNow(stores)).map(({ version }) => version)).toEqual([6, 6]);
  await expect(initCells(stores, map.cells)).rejects.toThrow("has a cell map already");
});

test("nothing moves while a cell does not tell its map: it may have a newer one", async () => {
  const { store } = of("b");
  const silent = { ...store, map: () => Promise.reject(new Error("b is away")) };
  await expect(changeCells(new Map([...stores, ["b", silent]]), { ...half, cell: "b" })).rejects.toThrow("b is away");
  expect((await cellsNow(stores)).map(({ version }) => version)).toEqual([1, 1]);
});

test("a database keeps the number of its cell", async () => {
  await migrate({ url: of("b").database.url, cell: 1 });
  await expect(migrate({ url: of("b").database.url, cell: 2 })).rejects.toThrow(
    "BELFRY_CELL is 2; ids of this database tell cell 1",
  );
});
