import { expect, test } from "vitest";
import fc from "fast-check";
import { cellOf, rangeOf } from "../../src/cells/route.ts";
import { enqueueRouted, routingOver } from "../../src/cells/routing.ts";
import { defineJob, definitionOf } from "../../src/core/define/define-job.ts";
import type { JobId } from "../../src/core/job/job.ts";
import { type CellMap, cellOfId, checked, evenMap, forgotten, moved } from "../../src/core/ports/cell-map.ts";

const place = (number: number) => ({ number, stage: `s${number}`, api: `http://127.0.0.1:${4400 + number}` });
const cellsOf = (count: number): CellMap["cells"] =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [`c${number}`, place(number)]));
const keys = Array.from({ length: 20_000 }, (_, index) => `key-${index}`);

test("every text has one cell, always the same", () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 64 }), (text, count) => {
      const map = evenMap(cellsOf(count));
      expect(Object.keys(map.cells)).toContain(cellOf(map, text));
      expect(cellOf(map, text)).toBe(cellOf(JSON.parse(JSON.stringify(map)) as CellMap, text));
    }),
  );
});

test("cells get the same share of the keys, within 5 %", () => {
  const map = evenMap(cellsOf(4));
  const counts = Map.groupBy(keys, (key) => cellOf(map, key));
  for (const own of counts.values()) expect(Math.abs(own.length - 5_000)).toBeLessThan(250);
});

test("a move changes the cell of its own range only, and remembers the one before", () => {
  const hash = fc.integer({ min: 0, max: 0x3fff_ffff });
  fc.assert(
    fc.property(hash, hash, fc.constantFrom("c1", "c2", "c3"), (a, b, cell) => {
      const map = evenMap(cellsOf(4));
      const [from, to] = [Math.min(a, b), Math.max(a, b)].map((each) => each.toString(16).padStart(8, "0")) as [
        string,
        string,
      ];
      const next = moved(map, { from, to, cell });
      expect(next.version).toBe(2);
      for (const key of keys.slice(0, 500)) {
        const [before, after] = [cellOf(map, key), rangeOf(next, key)];
        const isMoved = after.from >= from && after.to <= to;
        expect([after.cell, after.was ?? []]).toEqual(isMoved ? [cell, ["c0"]] : [before, []]);
      }
      expect(forgotten(next, "c0").ranges.every(({ was }) => was === undefined)).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test("a range that comes back remembers the cell in between alone", () => {
  const range = { from: "00000000", to: "0fffffff" };
  const there = moved(evenMap(cellsOf(3)), { ...range, cell: "c1" });
  const on = moved(there, { ...range, cell: "c2" });
  expect(on.ranges[0]).toEqual({ ...range, cell: "c2", was: ["c0", "c1"] });
  expect(moved(on, { ...range, cell: "c0" }).ranges[0]).toEqual({ ...range, cell: "c0", was: ["c1", "c2"] });
});

test("an id tells its cell; one from before there were cells is of the first", () => {
  const map = evenMap(cellsOf(3), "c2");
  expect(cellOfId(map, "1000000000001")).toBe("c1");
  expect(cellOfId(map, String(1_000_000_000_000n + 64n * 123_456_789n + 2n))).toBe("c2");
  expect(cellOfId(map, "1000000000063")).toBeNull();
  expect(cellOfId(map, "41")).toBe("c2");
  expect(cellOfId(evenMap(cellsOf(3)), "41")).toBeNull();
});

test.each([
  [{ version: 0 }, "version is 0"],
  [{ cells: {} }, "cells is 0"],
  [{ cells: { A: place(0), c1: place(1) } }, 'cells is "A"'],
  [{ cells: { c0: place(0), c1: place(0) } }, "cells.c1.number is 0"],
  [{ cells: { c0: place(64), c1: place(0) } }, "cells.c0.number is 64"],
  [{ first: "c9" }, 'first is "c9"; it must be one of c0, c1'],
  [{ ranges: [{ from: "0", to: "ffffffff", cell: "c0" }] }, "ranges[0]"],
  [{ ranges: [{ from: "00000000", to: "7fffffff", cell: "c0" }] }, "must end with ffffffff"],
  [{ ranges: [{ from: "00000001", to: "ffffffff", cell: "c0" }] }, "ranges[0].from"],
  [{ ranges: [{ from: "00000000", to: "ffffffff", cell: "c7" }] }, 'ranges[0].cell is "c7"'],
])("a map that cannot be used is refused with field, value and rule: %j", (wrong, text) => {
  expect(() => checked({ ...evenMap(cellsOf(2)), ...wrong })).toThrow(text);
});

test("a range of two cells, of the same cell or of none is not moved", () => {
  const map = evenMap(cellsOf(2));
  const move = (from: string, to: string, cell: string) => () => moved(map, { from, to, cell });
  expect(move("00000000", "ffffffff", "c1")).toThrow("is of c0, c1");
  expect(move("00000000", "00000001", "c0")).toThrow("must be of one other cell");
  expect(move("00000002", "00000001", "c1")).toThrow("8 hexadecimal digits");
  expect(move("00000000", "00000001", "x")).toThrow("must be one of c0, c1");
});

test("whether an older cell has a key is asked of the cell that had its text, which need not be the key", async () => {
  const text = (wanted: string) => keys.find((key) => cellOf(evenMap(cellsOf(2)), key) === wanted) ?? "";
  const map = moved(evenMap(cellsOf(2)), { from: "00000000", to: "7fffffff", cell: "c1" });
  const job = defineJob({ id: "work", run: () => {} });
  const asked: string[] = [];
  const store = (name: string) => ({
    map: async () => map,
    find: async (jobs: readonly unknown[]) => {
      asked.push(name);
      return jobs.map(() => ({ id: "7" as JobId, created: false, isConflict: false }));
    },
  });
  const stores = new Map(["c0", "c1"].map((name) => [name, store(name)]));
  const key = text("c1");
  const into = async (routeBy: string) =>
    await enqueueRouted(
      routingOver(stores, () => routeBy),
      { definition: definitionOf(job), items: [{ payload: undefined, key }] },
      async (cell) => [{ id: cell as JobId, created: true }],
    );
  expect(await into(text("c0"))).toEqual([{ id: "7", created: false }]);
  expect(asked).toEqual(["c0"]);
  expect(await into(key)).toEqual([{ id: "c1", created: true }]);
});
