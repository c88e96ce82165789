/** Which cell has a hash: pure functions of the cell map, and where it is kept. */
import type { NewJob } from "./job.ts";
import type { InsertResult } from "./store.ts";

/** A stage that is one of several cells. */
interface CellPlace {
  /** 0 to 63: ids of this cell leave it as the rest of a division by 64. Never changes. */
  readonly number: number;
  readonly stage: string;
}

/** Hashes from `from` to `to`, both included, as 8 hexadecimal digits. */
export interface CellRange {
  readonly from: string;
  readonly to: string;
  readonly cell: string;
  /** Cells that had it before: a key that one of them still keeps is not written again. */
  readonly was?: readonly string[];
}

/** A range goes to another cell, or a cell is no longer asked for keys of ranges that it had. */
export type CellChange = Pick<CellRange, "from" | "to" | "cell"> | { readonly forget: string };

export interface CellMap {
  /** From 1; each change adds 2: one as it begins, one as it is made. */
  readonly version: number;
  readonly cells: Readonly<Record<string, CellPlace>>;
  readonly ranges: readonly CellRange[];
  /** A change that has begun. The next version is this map with it, no matter who writes it. */
  readonly begun?: CellChange | undefined;
}

/** A job by its key, with the payload that the one which exists is compared with. */
export type Sought = Pick<NewJob, "kind" | "key" | "payload">;

/** What one cell's database knows about all cells. */
export interface CellStore {
  /** Null: none was written yet. */
  map(): Promise<CellMap | null>;
  /**
   * Waits for the writes under way; later ones that an older map routed are refused.
   * @returns whether it did: false when this cell has the version or a later one.
   */
  install(map: CellMap): Promise<boolean>;
  /** Jobs with the keys of these, in their order; null where there is none. */
  find(jobs: readonly Sought[]): Promise<readonly (InsertResult | null)[]>;
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

/**
 * A map with ranges of the same size, in the order of the cells.
 * @param first a stage that was there before: it may keep keys of every range
 */
export function evenMap(cells: CellMap["cells"], first?: string): CellMap {
  const names = Object.keys(cells);
  const bound = (index: number): number => Math.round((hashes * index) / names.length);
  const ranges = names.map((cell, index) => ({
    from: hex(bound(index)),
    to: hex(bound(index + 1) - 1),
    cell,
    ...(first === undefined || first === cell ? {} : { was: [first] }),
  }));
  return checkCellMap({ version: 1, cells, ranges });
}

/** The next version, which is as this one and says what the version after it changes. @throws RangeError */
export function beginning(map: CellMap, change: CellChange): CellMap {
  const begun = { ...map, version: map.version + 1, begun: change };
  completing(begun);
  return begun;
}

/** The version after a map whose change has begun. */
export function completing({ begun, ...map }: CellMap): CellMap {
  if (begun === undefined) throw new Error(`no change of version ${map.version} of the cell map has begun`);
  return "forget" in begun ? withoutCell(map, begun.forget) : withRange(map, begun);
}

/**
 * The next version, in which `cell` has the hashes from `from` to `to`. All of them must be of one cell: its lock ends the
 * writes under the old map. @throws RangeError
 */
export function withRange(map: CellMap, { from, to, cell }: Pick<CellRange, "from" | "to" | "cell">): CellMap {
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
  return checkCellMap({ ...map, version: map.version + 1, ranges });
}

/** The next version, in which no range remembers that `cell` had it before. */
export function withoutCell(map: CellMap, cell: string): CellMap {
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
export function checkCellMap(map: CellMap): CellMap {
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
