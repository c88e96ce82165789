/** Writes the cell map, moves ranges of it, and says how the cells stand. */
import { type CellMap, type CellRange, type CellStore, evenMap, forgotten, moved } from "../core/ports/cell-map.ts";
import { newestOf, noMap } from "./routing.ts";

export type CellStores = ReadonlyMap<string, CellStore>;

export interface CellStanding {
  readonly cell: string;
  /** Of the map in its database; null: it has none, or does not answer. */
  readonly version: number | null;
  readonly isAway: boolean;
  readonly detail: string;
}

export async function cellsNow(stores: CellStores): Promise<readonly CellStanding[]> {
  return await Promise.all(
    [...stores].map(async ([cell, store]) => {
      try {
        const map = await store.map();
        const detail = map === null ? "has no cell map" : `version ${map.version}`;
        return { cell, version: map?.version ?? null, isAway: false, detail };
      } catch (error) {
        return { cell, version: null, isAway: true, detail: error instanceof Error ? error.message : String(error) };
      }
    }),
  );
}

/** The first map, with ranges of the same size. @throws RangeError when a cell has a map already. */
export async function initCells(stores: CellStores, cells: CellMap["cells"], first?: string): Promise<CellMap> {
  const map = evenMap(cells, first);
  for (const [name, store] of stores) {
    const known = await store.map();
    if (known !== null)
      throw new RangeError(`cell "${name}" has a cell map already (version ${known.version}): move ranges of it`);
  }
  for (const store of stores.values()) await store.install(map);
  return map;
}

/**
 * Gives a range to another cell while work goes on. The cell that had it gets the map first: from then on no write under the
 * old map succeeds there, so its rows of these keys are final for those who look. Repeat it after an error: a map that only
 * some cells got is brought to all before anything moves.
 * @throws RangeError for a range that is not one other cell's; StoreAway when a cell is away, and nothing has moved if it was the old one.
 */
export const moveRange = (stores: CellStores, range: Pick<CellRange, "from" | "to" | "cell">): Promise<CellMap> =>
  changed(stores, (map) => {
    const next = moved(map, range);
    const losing = map.ranges.find(({ from, to }) => from <= range.from && range.from <= to)?.cell;
    return { next, first: losing };
  });

/** Ends the look into a cell that had ranges before: when it keeps no such key any more, after the retention of its jobs. */
export const forgetCell = (stores: CellStores, cell: string): Promise<CellMap> =>
  changed(stores, (map) => ({ next: forgotten(map, cell), first: undefined }));

/** The next map, and the cell that must know it before any other. */
type Change = (map: CellMap) => { readonly next: CellMap; readonly first: string | undefined };

/** One change at a time: the cell with the least name holds the right to it. */
async function changed(stores: CellStores, change: Change): Promise<CellMap> {
  const [keeper] = [...stores].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, store]) => store);
  if (keeper === undefined) throw new RangeError("cells is {}; it must name each cell of the cell map");
  return await keeper.alone(async () => {
    // Of every cell: one that answers later with a newer map would keep another map under the next number.
    const now = newestOf(await Promise.all([...stores.values()].map((store) => store.map())));
    if (now === null) throw noMap();
    const missing = Object.keys(now.cells).filter((name) => !stores.has(name));
    if (missing.length > 0) throw new RangeError(`cells has no ${missing.join(", ")}, which the cell map names`);
    for (const store of stores.values()) await store.install(now);
    const { next, first } = change(now);
    if (first !== undefined) await stores.get(first)?.install(next);
    for (const store of stores.values()) await store.install(next);
    return next;
  });
}
