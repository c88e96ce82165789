import { expect, test } from "vitest";
import fc from "fast-check";
import { cellOf, enqueueRouted, rangeOf, routingOver } from "../../src/cells/routing.ts";
import { defineJob, definitionOf } from "../../src/define/define-job.ts";
import type { JobId } from "../../src/machine/job.ts";
import { type CellMap, evenMap, withoutCell, withRange } from "../../src/machine/cell-map.ts";

const place = (number: number) => ({ number, stage: `s${number}` });
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
      const next = withRange(map, { from, to, cell });
      expect(next.version).toBe(2);
      for (const key of keys.slice(0, 500)) {
        const [before, after] = [cellOf(map, key), rangeOf(next, key)];
        const isMoved = after.from >= from && after.to <= to;
        expect([after.cell, after.was ?? []]).toEqual(isMoved ? [cell, ["c0"]] : [before, []]);
      }
      expect(withoutCell(next, "c0").ranges.every(({ was }) => was === undefined)).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test("a range that comes back remembers the cell in between alone", () => {
  const range = { from: "00000000", to: "0fffffff" };
  const there = withRange(evenMap(cellsOf(3)), { ...range, cell: "c1" });
  const on = withRange(there, { ...range, cell: "c2" });
  expect(on.ranges[0]).toEqual({ ...range, cell: "c2", was: ["c0", "c1"] });
  expect(withRange(on, { ...range, cell: "c0" }).ranges[0]).toEqual({ ...range, cell: "c0", was: ["c1", "c2"] });
});

test("whether an older cell has a key is asked of the cell that had its text, which need not be the key", async () => {
  const text = (wanted: string) => keys.find((key) => cellOf(evenMap(cellsOf(2)), key) === wanted) ?? "";
  const map = withRange(evenMap(cellsOf(2)), { from: "00000000", to: "7fffffff", cell: "c1" });
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
