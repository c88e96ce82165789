/** Writes the cell map, moves ranges of it, and says how the cells stand. */
import { beginning, type CellChange, type CellMap, type CellStore, completing, evenMap } from "../machine/cell-map.ts";
import { newestOf, noMap } from "./routing.ts";

export type ChangedCell = Pick<CellStore, "map" | "install">;
export type CellStores = ReadonlyMap<string, ChangedCell>;

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
    const existing = await store.map();
    if (existing !== null)
      throw new RangeError(`cell "${name}" has a cell map already (version ${existing.version}): move ranges of it`);
  }
  for (const store of stores.values()) await store.install(map);
  return map;
}

/** Other processes may begin a change before this one so many times. */
const roundsMax = 10;

/**
 * Changes the map while work goes on. The cell with the least name decides which change begins, and names it in its map:
 * if this process ends then, the next change completes it first, with the same result. No lock is held between calls.
 * @throws RangeError for a range that is not one other cell's; StoreAway when a cell is away: repeat it.
 */
export async function changeCells(stores: CellStores, change: CellChange): Promise<CellMap> {
  for (let round = 0; round < roundsMax; round += 1) {
    const map = await completed(stores, await newestOfAll(stores));
    const begun = beginning(map, change);
    const [decider = ""] = Object.keys(map.cells).toSorted();
    if ((await stores.get(decider)?.install(begun)) === true) return await completed(stores, begun);
  }
  throw new RangeError("other processes change the cell map all the time: wait for their end");
}

/** Of every cell: one that answers later with a newer map would keep another map under the next number. */
async function newestOfAll(stores: CellStores): Promise<CellMap> {
  const newest = newestOf(await Promise.all([...stores.values()].map((store) => store.map())));
  if (newest === null) throw noMap();
  const missing = Object.keys(newest.cells).filter((name) => !stores.has(name));
  if (missing.length > 0) throw new RangeError(`cells has no ${missing.join(", ")}, which the cell map names`);
  return newest;
}

/**
 * Brings the map to all cells, with the change that has begun. A cell that loses a range gets it first: from then on no write
 * under the old map succeeds there, so its rows of these keys are final for those who look.
 */
async function completed(stores: CellStores, map: CellMap): Promise<CellMap> {
  const { begun } = map;
  const next = begun === undefined ? map : completing(map);
  const from = begun !== undefined && "from" in begun ? begun.from : null;
  const losing = map.ranges.find((range) => from !== null && range.from <= from && from <= range.to)?.cell;
  if (losing !== undefined) await stores.get(losing)?.install(next);
  for (const store of stores.values()) await store.install(next);
  return next;
}
