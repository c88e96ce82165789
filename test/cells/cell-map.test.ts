import { describe, expect, test } from "vitest";
import {
  type CellMap,
  type CellRange,
  checkCellMap,
  evenMap,
  withoutCell,
  withRange,
  rangeAt,
} from "../../src/machine/cell-map.ts";

const place = (number: number) => ({ number, stage: `s${number}` });
const cellsOf = (count: number): CellMap["cells"] =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [`c${number}`, place(number)]));
const range = (from: string, to: string, cell: string, was?: readonly string[]): CellRange => ({
  from,
  to,
  cell,
  ...(was === undefined ? {} : { was }),
});

test.each([
  [0, "c0"],
  [0x3fff_ffff, "c0"],
  [0x4000_0000, "c1"],
  [0x7fff_ffff, "c1"],
  [0x8000_0000, "c2"],
  [0xffff_ffff, "c3"],
])("hash %i is of %s of four cells", (at, cell) => {
  expect(rangeAt(evenMap(cellsOf(4)), at).cell).toBe(cell);
});

test("a hash without a range names it", () => {
  expect(() => rangeAt({ ranges: [range("00000000", "0000000f", "c0")] }, 0x10)).toThrow(
    "no range of the cell map has 00000010: it was not checked",
  );
});

test("keys of a stage that was there before are looked for in it, whatever their range", () => {
  expect(evenMap(cellsOf(3), "c2").ranges.map(({ cell, was }) => [cell, was])).toEqual([
    ["c0", ["c2"]],
    ["c1", ["c2"]],
    ["c2", undefined],
  ]);
});

describe("a move of hashes", () => {
  const map = () => evenMap(cellsOf(4));
  const one = () => withRange(map(), range("40000010", "40000010", "c2"));

  test("splits the range at both ends", () => {
    expect(withRange(map(), range("40000010", "4000001f", "c2"))).toEqual({
      ...map(),
      version: 2,
      ranges: [
        range("00000000", "3fffffff", "c0"),
        range("40000000", "4000000f", "c1"),
        range("40000010", "4000001f", "c2", ["c1"]),
        range("40000020", "7fffffff", "c1"),
        range("80000000", "bfffffff", "c2"),
        range("c0000000", "ffffffff", "c3"),
      ],
    });
  });

  test("takes a range of one hash there and back", () => {
    expect(one().ranges[2]).toEqual(range("40000010", "40000010", "c2", ["c1"]));
    const back = withRange(one(), range("40000010", "40000010", "c1"));
    expect([back.version, back.ranges[2]]).toEqual([3, range("40000010", "40000010", "c1", ["c2"])]);
  });

  test.each([
    ["40000000", "40000010", "is of c1, c2"],
    ["40000010", "40000011", "is of c2, c1"],
  ])("from %s to %s touches two cells and is refused", (from, to, rule) => {
    expect(() => withRange(one(), { from, to, cell: "c3" })).toThrow(rule);
  });

  test("goes to one other cell, which is there", () => {
    const move = (cell: string) => () => withRange(map(), { from: "00000000", to: "00000001", cell });
    expect(move("c0")).toThrow("must be of one other cell");
    expect(move("x")).toThrow("must be one of c0, c1");
  });

  test("takes no cell whose name is written in capitals", () => {
    expect(() => checkCellMap({ ...map(), cells: { A: place(0), c1: place(1) } })).toThrow('cells is "A"');
  });

  test.each([
    ["0", "0000000f"],
    ["00000000", "f"],
    ["0000000G", "0000000f"],
    ["00000000", "0000000F"],
    ["00000001", "00000000"],
  ])("from %s to %s is no range", (from, to) => {
    expect(() => withRange(map(), { from, to, cell: "c1" })).toThrow(
      `cell map: range is "${from} to ${to}"; it must be 8 hexadecimal digits each, the first not above the second`,
    );
  });
});

test("a forgotten cell is named by no range, the others still are", () => {
  const ranges = [range("00000000", "0000000f", "c0", ["c1", "c2"]), range("00000010", "ffffffff", "c0", ["c1"])];
  const map: CellMap = { version: 7, cells: cellsOf(3), ranges };
  expect(withoutCell(map, "c1")).toEqual({
    version: 8,
    cells: map.cells,
    ranges: [range("00000000", "0000000f", "c0", ["c2"]), range("00000010", "ffffffff", "c0")],
  });
});

describe("a map is checked", () => {
  const good = () => evenMap(cellsOf(2));
  const hex = (at: number): string => at.toString(16).padStart(8, "0");
  /** Each but the last has one hash. */
  const parts = (count: number): readonly CellRange[] =>
    Array.from({ length: count }, (_, at) => range(hex(at), at === count - 1 ? "ffffffff" : hex(at), "c0"));

  test.each<[string, Partial<CellMap>]>([
    ["a later version", { version: 2 }],
    ["64 cells", { cells: cellsOf(64) }],
    ["the greatest number", { cells: { c0: place(63), c1: place(0) } }],
    ["4,096 ranges", { ranges: parts(4_096) }],
    ["a range of one hash", { ranges: parts(2) }],
    ["cells before", { ranges: [range("00000000", "ffffffff", "c0", ["c1"])] }],
  ])("%s is taken", (_, more) => {
    const map = { ...good(), ...more };
    expect(checkCellMap(map)).toBe(map);
  });

  const number = "it must be a whole number from 0 to 63 that no other cell has";
  const digits = "it must be 8 hexadecimal digits each, the first not above the second";
  test.each<[string, Partial<CellMap>, string]>([
    ["half a version", { version: 1.5 }, "version is 1.5; it must be a whole number from 1"],
    ["a version 0", { version: 0 }, "version is 0; it must be a whole number from 1"],
    ["no cells", { cells: {} }, "cells is 0; it must be 1 to 64"],
    ["a number twice", { cells: { c0: place(0), c1: place(0) } }, `cells.c1.number is 0; ${number}`],
    ["a number above 63", { cells: { c0: place(64), c1: place(0) } }, `cells.c0.number is 64; ${number}`],
    ["65 cells", { cells: cellsOf(65) }, "cells is 65; it must be 1 to 64"],
    ["half a number", { cells: { c0: place(0.5) } }, `cells.c0.number is 0.5; ${number}`],
    ["a number below 0", { cells: { c0: place(-1) } }, `cells.c0.number is -1; ${number}`],
    ["4,097 ranges", { ranges: parts(4_097) }, "ranges is 4097; it must be at most 4096"],
    ["a short from", { ranges: [range("0", "ffffffff", "c0")] }, `ranges[0] is "0 to ffffffff"; ${digits}`],
    [
      "a long to",
      { ranges: [range("00000000", "fffffffff", "c0")] },
      `ranges[0] is "00000000 to fffffffff"; ${digits}`,
    ],
    [
      "a range that ends before it begins",
      { ranges: [range("00000000", "0000000f", "c0"), range("00000010", "0000000f", "c0")] },
      `ranges[1] is "00000010 to 0000000f"; ${digits}`,
    ],
    ["no ranges", { ranges: [] }, 'ranges is "00000000"; it must end with ffffffff'],
    ["a part", { ranges: [range("00000000", "7fffffff", "c0")] }, 'ranges is "7fffffff"; it must end with ffffffff'],
    [
      "a hash in two ranges",
      { ranges: [range("00000000", "0000000f", "c0"), range("0000000f", "ffffffff", "c1")] },
      'ranges[1].from is "0000000f"; it must be 00000010: each hash is in one range, in order',
    ],
    [
      "an unknown cell before",
      { ranges: [range("00000000", "ffffffff", "c0", ["c1", "c9"])] },
      'ranges[0].cell is "c9"; it must be one of c0, c1',
    ],
  ])("%s is refused with field, value and rule", (_, more, message) => {
    expect(() => checkCellMap({ ...good(), ...more })).toThrow(new RangeError(`cell map: ${message}`));
  });
});
