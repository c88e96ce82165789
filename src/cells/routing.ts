/** Which cell each job goes to, by the newest cell map, until every one is written or refused. */
import { hash } from "node:crypto";
import type { JobDefinition } from "../define/definition.ts";
import { KeyConflict } from "../define/errors.ts";
import { type Client, prepare } from "../run/enqueue.ts";
import { chunksOf } from "../machine/chunks.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { NewJob } from "../machine/job.ts";
import type { Seals } from "../machine/seal.ts";
import { type CellMap, type CellRange, type CellStore, rangeAt } from "../machine/cell-map.ts";
import type { EnqueueClient, Enqueued, EnqueueItem, EnqueueSettings } from "../machine/client.ts";
import { CellMapChanged } from "../machine/fence.ts";
import { type InsertResult } from "../machine/store.ts";
import { StoreAway } from "../machine/transaction.ts";

/** The text whose hash chooses the cell; null: any cell. The same kind and key must always give the same text. */
export type RouteBy = (job: { readonly kind: string; readonly key: string | null }) => string | null;

/** What became of the jobs of one cell that did not take them. */
export interface CellFailure {
  readonly cell: string;
  readonly error: unknown;
  /** Places in the input. */
  readonly items: readonly number[];
}

/** Some cells did not take their jobs; the others did. */
export class CellsFailed extends Error {
  override readonly name = "CellsFailed";
  readonly failed: readonly CellFailure[];
  /** In the order of the input; null for each item in `failed`. */
  readonly enqueued: readonly (Enqueued | null)[];
  constructor(failed: readonly CellFailure[], enqueued: readonly (Enqueued | null)[]) {
    const parts = failed.map(
      ({ cell, items, error }) => `cell "${cell}" did not take ${items.length}: ${textOf(error)}`,
    );
    super(
      `${parts.join("; ")} (${enqueued.filter((each) => each !== null).length} of ${enqueued.length} were written)`,
      {
        cause: failed[0]?.error,
      },
    );
    this.failed = failed;
    this.enqueued = enqueued;
  }
}

export const rangeOf = (map: Pick<CellMap, "ranges">, text: string): CellRange =>
  rangeAt(map, hash("sha256", text, "buffer").readUInt32BE(0));

export const cellOf = (map: Pick<CellMap, "ranges">, text: string): string => rangeOf(map, text).cell;

/** Rounds in which a job that a newer map sends elsewhere is routed again. */
const roundsMax = 10;

/** A cell that hangs holds up the first read of the map so long. Its own writes are refused if its map is newer. */
const mapWaitMs = 2_000;

/** The newest map of those that come in time. @throws Error when none does, or none has a map. */
export async function newestMap(stores: Iterable<Pick<CellStore, "map">>): Promise<CellMap> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new StoreAway(`its cell map did not come within ${mapWaitMs} ms`)),
    mapWaitMs,
  );
  const read = await Promise.allSettled([...stores].map((store) => Promise.race([store.map(), late.promise])));
  clearTimeout(timer);
  const failure = read.find((each) => each.status === "rejected");
  const newest = newestOf(read.map((each) => (each.status === "fulfilled" ? each.value : null)));
  if (newest !== null) return newest;
  throw failure?.reason ?? noMap();
}

export const noMap = (): Error => new Error("no cell has a cell map: write the first one with `npx belfry cells init`");

export const newestOf = (maps: readonly (CellMap | null)[]): CellMap | null =>
  maps.reduce((newest, map) => ((map?.version ?? 0) > (newest?.version ?? 0) ? map : newest), null);

interface Place {
  readonly at: number;
  readonly item: EnqueueItem;
  readonly job: NewJob;
}

export interface Routing {
  readonly stores: ReadonlyMap<string, Pick<CellStore, "map" | "find">>;
  readonly routeBy: RouteBy;
  /** The newest map this process has seen; null: read it. */
  known: CellMap | null;
  /** Of the jobs without a key. */
  turn: number;
}

export const routingOver = (stores: Routing["stores"], routeBy: RouteBy = ({ key }) => key): Routing => ({
  stores,
  routeBy,
  known: null,
  turn: 0,
});

/** Writes all of them into one cell, or none. @throws CellMapChanged, KeyConflict, StoreAway when nothing was written */
export type WriteInto = (
  cell: string,
  items: readonly EnqueueItem[],
  options: EnqueueSettings & { readonly mapVersion: number },
) => Promise<readonly Enqueued[]>;

/** @throws CellsFailed for what some cells did not take, InvalidPayload before anything is written */
export async function enqueueRouted(
  routing: Routing,
  {
    definition,
    items,
    settings = {},
  }: { definition: JobDefinition; items: readonly EnqueueItem[]; settings?: EnqueueSettings },
  write: WriteInto,
): Promise<readonly Enqueued[]> {
  refuseTx(definition, settings);
  const jobs = await prepare(definition, { trace: "", seals: sealedLater }, items);
  // The bursts of a key are in its cell.
  const places = jobs.map(({ debounce, ...job }, at): Place => {
    return { at, item: { ...items[at], payload: items[at]?.payload }, job: { ...job, key: debounce?.key ?? job.key } };
  });
  const asked: Asked = { settings, write, answers: items.map(() => null), failed: [], away: new Set() };
  await enqueueAll(routing, places, asked);
  if (asked.failed.length > 0) throw failureOf(asked.failed, asked.answers);
  return asked.answers.filter((answer) => answer !== null);
}

/** These jobs only say which cell they belong to: its own client seals what it writes. */
const sealedLater: Seals = { seal: async () => "", open: async () => "" };

/** One enqueue on its way: what it is, and what became of it. */
interface Asked {
  readonly settings: EnqueueSettings;
  readonly write: WriteInto;
  readonly answers: (Enqueued | null)[];
  readonly failed: CellFailure[];
  readonly away: Set<string>;
}

async function enqueueAll(routing: Routing, places: readonly Place[], asked: Asked): Promise<void> {
  let open = places;
  for (let round = 0; open.length > 0; round += 1) {
    const map = await mapOf(routing);
    const parts = Map.groupBy(open, (place) => cellFor(routing, map, place, asked));
    // One statement each: what is refused was not written in part.
    const pages = [...parts].flatMap(([cell, of]) =>
      chunksOf(of, contractLimits.insertRowsMax).map((page) => ({ cell, page })),
    );
    const again = await Promise.all(
      pages.map(async ({ cell, page }) => {
        try {
          await writePage(routing, map, { cell, page }, asked);
          return [];
        } catch (error) {
          return refused(routing, { cell, page, map, isLast: round >= roundsMax, error }, asked);
        }
      }),
    );
    open = again.flat();
  }
}

/** @returns the jobs to route again; notes the others as failed. */
function refused(
  routing: Routing,
  refusal: { cell: string; page: readonly Place[]; map: CellMap; isLast: boolean; error: unknown },
  { settings, failed, away }: Asked,
): readonly Place[] {
  const { cell, page, map, isLast, error } = refusal;
  const isOld = error instanceof CellMapChanged;
  if (isOld && routing.known === map) routing.known = null;
  const isOver = isLast || settings.tx !== undefined;
  const isAway = error instanceof StoreAway && settings.cell === undefined && away.size < routing.stores.size - 1;
  if (isAway) away.add(cell);
  const [again, lost] = [true, false].map((wanted) =>
    page.filter(({ job }) => (!isOver && (isOld || (isAway && routing.routeBy(job) === null))) === wanted),
  ) as [Place[], Place[]];
  if (lost.length > 0) failed.push({ cell, error, items: lost.map(({ at }) => at) });
  return again;
}

async function mapOf(routing: Routing): Promise<CellMap> {
  routing.known ??= fitting(await newestMap(routing.stores.values()), routing.stores);
  return routing.known;
}

/** Jobs that no text routes take turns, and leave out cells that are away. */
function cellFor(routing: Routing, map: CellMap, { job }: Place, { settings, away }: Asked): string {
  const { stores, routeBy } = routing;
  const text = routeBy(job);
  const owner = text === null ? null : cellOf(map, text);
  if (settings.cell !== undefined) return named(settings.cell, owner, job, stores);
  if (owner !== null) return owner;
  const names = Object.keys(map.cells).filter((name) => !away.has(name));
  routing.turn += 1;
  return names[routing.turn % names.length] ?? "";
}

async function writePage(
  routing: Routing,
  map: CellMap,
  { cell, page }: { cell: string; page: readonly Place[] },
  { settings: { tx, trace }, write, answers }: Asked,
): Promise<void> {
  const found = await foundBefore(routing, map, page);
  for (const [at, { id, created }] of found) answers[at] = { id, created };
  const fresh = page.filter(({ at }) => !found.has(at));
  const items = fresh.map(({ item, job }) => ({ ...item, key: job.key ?? undefined }));
  const written = fresh.length === 0 ? [] : await write(cell, items, { tx, trace, mapVersion: map.version });
  fresh.forEach(({ at }, index) => (answers[at] = written[index] ?? null));
  const conflict = page.find(({ at }) => found.get(at)?.isConflict === true);
  if (conflict === undefined) return;
  const { kind, key } = conflict.job;
  throw new KeyConflict(kind, key ?? "", found.get(conflict.at)?.id ?? "");
}

/** @returns the jobs that cells which had the range before keep under these keys: their rows are final under this map. */
async function foundBefore(
  { stores, routeBy }: Routing,
  map: CellMap,
  places: readonly Place[],
): Promise<ReadonlyMap<number, InsertResult>> {
  const byCell = new Map<string, Place[]>();
  for (const place of places) {
    const text = place.job.key === null ? null : routeBy(place.job);
    if (text === null) continue;
    for (const old of rangeOf(map, text).was ?? []) byCell.set(old, [...(byCell.get(old) ?? []), place]);
  }
  const found = [...byCell].map(async ([name, asked]) => {
    const answers = await stores
      .get(name)
      ?.find(asked.map(({ job }) => job))
      .catch((error: unknown) => {
        throw new Error(`cell "${name}" had these keys before and did not answer: ${textOf(error)}`, { cause: error });
      });
    return asked.flatMap(({ at }, index): [number, InsertResult][] => {
      const answer = answers?.[index] ?? null;
      return answer === null ? [] : [[at, answer]];
    });
  });
  return new Map((await Promise.all(found)).flat());
}

function fitting(map: CellMap, cells: Routing["stores"]): CellMap {
  const missing = Object.keys(map.cells).filter((name) => !cells.has(name));
  if (missing.length === 0) return map;
  throw new RangeError(
    `cells has no ${missing.join(", ")}, which the cell map (version ${map.version}) names: connect to every cell`,
  );
}

function refuseTx({ id }: JobDefinition, { tx, cell }: EnqueueSettings): void {
  if (tx === undefined || cell !== undefined) return;
  throw new RangeError(
    `tx of "${id}" is of one database, and the key may be of another cell: name the cell of the transaction, { tx, cell }`,
  );
}

function named(cell: string, owner: string | null, { kind, key }: NewJob, cells: Routing["stores"]): string {
  if (!cells.has(cell))
    throw new RangeError(`cell of "${kind}" is "${cell}"; it must be one of ${[...cells.keys()].join(", ")}`);
  if (owner === null || owner === cell) return cell;
  throw new RangeError(
    `cell of "${kind}" is "${cell}", and key "${key}" belongs to "${owner}": leave the cell out, or name that one`,
  );
}

/** A conflict of keys alone is what one stage would throw too. */
function failureOf(failed: readonly CellFailure[], answers: readonly (Enqueued | null)[]): unknown {
  const [first] = failed;
  return failed.every(({ error }) => error instanceof KeyConflict) ? first?.error : new CellsFailed(failed, answers);
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** One client for several cells: each job goes to the cell that has its key. */

export interface OpenCell {
  readonly client: Pick<Client, "enqueue">;
  readonly store: Pick<CellStore, "map" | "find">;
}

export function createCellsClient(cells: ReadonlyMap<string, OpenCell>, routeBy?: RouteBy): EnqueueClient {
  const routing = routingOver(new Map([...cells].map(([name, { store }]) => [name, store])), routeBy);
  return {
    async enqueue(given, items, settings = {}) {
      const definition = given as JobDefinition;
      return await enqueueRouted(routing, { definition, items, settings }, async (cell, some, options) => {
        const open = cells.get(cell);
        if (open === undefined) throw new Error(`cell "${cell}" is not connected`);
        return await open.client.enqueue(definition, some, options);
      });
    },
  };
}
