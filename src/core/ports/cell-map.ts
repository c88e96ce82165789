/** Which cell has a hash, and which has an id: pure functions of the cell map, and where it is kept. */
import type { NewJob } from "../job/job.ts";
import type { InsertResult } from "./store.ts";

/** Where a stage that is one of several cells is reached. */
export interface CellPlace {
  /** 0 to 63: ids of this cell leave it as the rest of a division by 64. Never changes. */
  readonly number: number;
  readonly stage: string;
  /** Address of its HTTP API. */
  readonly api: string;
}

/** Hashes from `from` to `to`, both included, as 8 hexadecimal digits. */
export interface CellRange {
  readonly from: string;
  readonly to: string;
  readonly cell: string;
  /** Cells that had it before: a key that one of them still keeps is not written again. */
  readonly was?: readonly string[];
}

export interface CellMap {
  /** From 1; each move of a range adds 1. */
  readonly version: number;
  readonly cells: Readonly<Record<string, CellPlace>>;
  readonly ranges: readonly CellRange[];
  /** The stage that was there before it became a cell: ids below `cellLimits.firstId` are its. */
  readonly first?: string | undefined;
}

/** A job by its key, with what its payload is compared by. */
export type Sought = Pick<NewJob, "kind" | "key" | "canonicalInput">;

/** What one cell's database knows about all cells. */
export interface CellStore {
  /** Null: none was written yet. */
  map(): Promise<CellMap | null>;
  /** Waits for the writes under way; later ones that an older map routed are refused. Does nothing when it has this version. */
  install(map: CellMap): Promise<void>;
  /** Jobs with the keys of these, in their order; null where there is none. */
  find(jobs: readonly Sought[]): Promise<readonly (InsertResult | null)[]>;
  /** Holds the right to move ranges while `work` runs. @throws RangeError when another process has it. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

export const cellLimits = {
  cellsMax: 64,
  rangesMax: 4_096,
  nameCharactersMax: 32,
  /** 64 divides it. Ids below it were drawn before their stage became a cell. */
  firstId: 1_000_000_000_000,
} as const;

const hashes = 2 ** 32;
const hex = (value: number): string => value.toString(16).padStart(8, "0");
const of = (digits: string): number => Number.parseInt(digits, 16);

/** The range of a checked map that has a hash, 0 to 2^32 - 1: its cell, and the cells that had it before. */
export function rangeAt({ ranges }: Pick<CellMap, "ranges">, at: number): CellRange {
  const found = ranges.find(({ to }) => at <= of(to));
  if (found === undefined) throw new Error(`no range of the cell map has ${hex(at)}: it was not checked`);
  return found;
}

/** The cell that drew an id; null when no cell of the map has its number. */
export function cellOfId(map: Pick<CellMap, "cells" | "first">, id: string): string | null {
  const value = BigInt(id);
  if (value < BigInt(cellLimits.firstId)) return map.first ?? null;
  const number = Number(value % BigInt(cellLimits.cellsMax));
  return Object.entries(map.cells).find(([, place]) => place.number === number)?.[0] ?? null;
}

/** A map with ranges of the same size, in the order of the cells. */
export function evenMap(cells: CellMap["cells"], first?: string): CellMap {
  const names = Object.keys(cells);
  const bound = (index: number): number => Math.round((hashes * index) / names.length);
  const ranges = names.map((cell, index) => ({ from: hex(bound(index)), to: hex(bound(index + 1) - 1), cell }));
  return checked({ version: 1, cells, ranges, first });
}

/**
 * The next version, in which `cell` has the hashes from `from` to `to`. All of them must be of one cell: its lock ends the
 * writes under the old map. @throws RangeError
 */
export function moved(map: CellMap, { from, to, cell }: Pick<CellRange, "from" | "to" | "cell">): CellMap {
  refuse(isHex(from) && isHex(to) && of(from) <= of(to), "range", `${from} to ${to}`, rules.range);
  refuse(Object.hasOwn(map.cells, cell), "cell", cell, `must be one of ${Object.keys(map.cells).join(", ")}`);
  const [low, high] = [of(from), of(to)];
  const touched = map.ranges.filter((each) => of(each.from) <= high && low <= of(each.to));
  const owners = [...new Set(touched.map((each) => each.cell))];
  const rule = `must be of one other cell, and is of ${owners.join(", ")}: move the parts one by one`;
  refuse(owners.length === 1 && owners[0] !== cell, "range", `${from} to ${to}`, rule);
  const ranges = map.ranges.flatMap((each) => {
    if (!touched.includes(each)) return [each];
    const [start, end] = [Math.max(low, of(each.from)), Math.min(high, of(each.to))];
    const was = [...new Set([...(each.was ?? []), each.cell])].filter((name) => name !== cell);
    return [
      ...(of(each.from) < start ? [{ ...each, to: hex(start - 1) }] : []),
      { from: hex(start), to: hex(end), cell, was },
      ...(end < of(each.to) ? [{ ...each, from: hex(end + 1) }] : []),
    ];
  });
  return checked({ ...map, version: map.version + 1, ranges });
}

/** The next version, in which no range remembers that `cell` had it before. */
export function forgotten(map: CellMap, cell: string): CellMap {
  const ranges = map.ranges.map(({ was = [], ...range }) => {
    const left = was.filter((name) => name !== cell);
    return left.length === 0 ? range : { ...range, was: left };
  });
  return { ...map, version: map.version + 1, ranges };
}

const rules = {
  range: "must be 8 hexadecimal digits each, the first not above the second",
  name: `must be 1 to ${cellLimits.nameCharactersMax} of a-z, 0-9 and -`,
  number: `must be a whole number from 0 to ${cellLimits.cellsMax - 1} that no other cell has`,
} as const;

const isHex = (text: string): boolean => /^[0-9a-f]{8}$/.test(text);

/** @throws RangeError that names the field, its value and the rule. */
export function checked(map: CellMap): CellMap {
  refuse(Number.isInteger(map.version) && map.version >= 1, "version", map.version, "must be a whole number from 1");
  const names = Object.keys(map.cells);
  const known = `must be one of ${names.join(", ")}`;
  refuse(names.length >= 1 && names.length <= cellLimits.cellsMax, "cells", names.length, "must be 1 to 64");
  const numbers = new Set<number>();
  for (const [name, { number }] of Object.entries(map.cells)) {
    refuse(/^[a-z0-9-]{1,32}$/.test(name), "cells", name, rules.name);
    const isOwn = Number.isInteger(number) && number >= 0 && number < cellLimits.cellsMax && !numbers.has(number);
    refuse(isOwn, `cells.${name}.number`, number, rules.number);
    numbers.add(number);
  }
  if (map.first !== undefined) refuse(names.includes(map.first), "first", map.first, known);
  refuse(
    map.ranges.length <= cellLimits.rangesMax,
    "ranges",
    map.ranges.length,
    `must be at most ${cellLimits.rangesMax}`,
  );
  let next = 0;
  for (const [index, { from, to, cell, was = [] }] of map.ranges.entries()) {
    const field = `ranges[${index}]`;
    refuse(isHex(from) && isHex(to) && of(from) <= of(to), field, `${from} to ${to}`, rules.range);
    refuse(of(from) === next, `${field}.from`, from, `must be ${hex(next)}: each hash is in one range, in order`);
    for (const name of [cell, ...was]) refuse(names.includes(name), `${field}.cell`, name, known);
    next = of(to) + 1;
  }
  refuse(next === hashes, "ranges", hex(Math.max(0, next - 1)), "must end with ffffffff");
  return map;
}

function refuse(isFit: boolean, field: string, value: unknown, rule: string): void {
  if (!isFit) throw new RangeError(`cell map: ${field} is ${JSON.stringify(value)}; it ${rule}`);
}
