/** One client for several cells: each job goes to the cell that has its key. */
import type { CellStore } from "../adapters/postgres/cell-store.ts";
import type { JobDefinition } from "../core/define/definition.ts";
import { KeyConflict } from "../core/define/errors.ts";
import { type Client, prepare } from "../core/delivery/enqueue.ts";
import { contractLimits } from "../core/job/contract-limits.ts";
import type { NewJob } from "../core/job/job.ts";
import type { EnqueueClient, EnqueueItem, Enqueued, EnqueueSettings } from "../core/ports/client.ts";
import { CellMapChanged, type InsertResult, StoreAway } from "../core/ports/ports.ts";
import { type CellMap, cellOf, rangeOf } from "./route.ts";

export interface OpenCell {
  readonly stage: string;
  readonly client: Client;
  readonly store: Pick<CellStore, "map" | "find">;
}

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

/** Rounds in which a job that a newer map sends elsewhere is routed again. */
const roundsMax = 10;

/** The newest map that a cell knows. @throws Error when none answers, or none has a map. */
export async function newestMap(stores: Iterable<Pick<CellStore, "map">>): Promise<CellMap> {
  const read = await Promise.allSettled([...stores].map((store) => store.map()));
  const maps = read.flatMap((each) => (each.status === "fulfilled" && each.value !== null ? [each.value] : []));
  const newest = maps.toSorted((a, b) => b.version - a.version)[0];
  if (newest !== undefined) return newest;
  const failure = read.find((each) => each.status === "rejected");
  if (failure !== undefined) throw failure.reason;
  throw new Error("no cell has a cell map: write the first one with `npx belfry cells init`");
}

/** Where one job of the input stands. */
interface Place {
  readonly at: number;
  readonly item: EnqueueItem;
  readonly job: NewJob;
}

export type Cells = ReadonlyMap<string, OpenCell>;

export function createCellsClient(cells: Cells, routeBy: RouteBy = ({ key }) => key): EnqueueClient {
  const routing: Routing = { cells, routeBy, known: null, turn: 0 };
  return {
    async enqueue(given, items, settings = {}) {
      const definition = given as JobDefinition;
      refuseTx(definition, settings);
      const [first] = cells.values();
      const jobs = await prepare(definition, { stage: first?.stage ?? "", trace: "" }, items);
      const places = jobs.map((job, at): Place => ({ at, item: { ...items[at], payload: items[at]?.payload }, job }));
      const asked = { definition, settings, answers: items.map(() => null), failed: [], away: new Set<string>() };
      await enqueueAll(routing, places, asked);
      if (asked.failed.length > 0) throw failureOf(asked.failed, asked.answers);
      return (asked.answers as readonly (Enqueued | null)[]).filter((answer) => answer !== null);
    },
  };
}

interface Routing {
  readonly cells: Cells;
  readonly routeBy: RouteBy;
  /** The newest map this client has seen; null: read it. */
  known: CellMap | null;
  /** Of the jobs without a key. */
  turn: number;
}

/** One enqueue on its way: what it is, and what became of it. */
interface Asked {
  readonly definition: JobDefinition;
  readonly settings: EnqueueSettings;
  readonly answers: (Enqueued | null)[];
  readonly failed: CellFailure[];
  readonly away: Set<string>;
}

async function enqueueAll(routing: Routing, places: readonly Place[], asked: Asked): Promise<void> {
  let open = places;
  for (let round = 0; open.length > 0; round += 1) {
    const map = await mapNow(routing);
    const parts = Map.groupBy(open, (place) => cellFor(routing, map, place, asked));
    // One statement each: what is refused was not written in part.
    const pages = [...parts].flatMap(([cell, of]) => pagesOf(of).map((page) => ({ cell, page })));
    const again = await Promise.all(
      pages.map(async ({ cell, page }) => {
        try {
          await write(routing, map, { cell, page }, asked);
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
  {
    cell,
    page,
    map,
    isLast,
    error,
  }: { cell: string; page: readonly Place[]; map: CellMap; isLast: boolean; error: unknown },
  { settings, failed, away }: Asked,
): readonly Place[] {
  const isOld = error instanceof CellMapChanged;
  if (isOld && routing.known === map) routing.known = null;
  const isOver = isLast || settings.tx !== undefined;
  const isAway = error instanceof StoreAway && settings.cell === undefined && away.size < routing.cells.size - 1;
  if (isAway) away.add(cell);
  const [again, lost] = [true, false].map((wanted) =>
    page.filter(({ job }) => (!isOver && (isOld || (isAway && routing.routeBy(job) === null))) === wanted),
  ) as [Place[], Place[]];
  if (lost.length > 0) failed.push({ cell, error, items: lost.map(({ at }) => at) });
  return again;
}

async function mapNow(routing: Routing): Promise<CellMap> {
  const { cells } = routing;
  routing.known ??= fitting(await newestMap([...cells.values()].map(({ store }) => store)), cells);
  return routing.known;
}

/** Jobs that no text routes take turns, and leave out cells that are away. */
function cellFor(routing: Routing, map: CellMap, { job }: Place, { settings, away }: Asked): string {
  const { cells, routeBy } = routing;
  const text = routeBy(job);
  const owner = text === null ? null : cellOf(map, text);
  if (settings.cell !== undefined) return named(settings.cell, owner, job, cells);
  if (owner !== null) return owner;
  const names = Object.keys(map.cells).filter((name) => !away.has(name));
  routing.turn += 1;
  return names[routing.turn % names.length] ?? "";
}

async function write(
  routing: Routing,
  map: CellMap,
  { cell, page }: { cell: string; page: readonly Place[] },
  { definition, settings: { tx, trace }, answers }: Asked,
): Promise<void> {
  const client = routing.cells.get(cell)?.client;
  if (client === undefined) throw new Error(`cell "${cell}" is not connected`);
  const found = await foundBefore(routing, map, page);
  for (const [at, { id, created }] of found) answers[at] = { id, created };
  const fresh = page.filter(({ at }) => !found.has(at));
  const items = fresh.map(({ item, job }) => ({ ...item, key: job.key ?? undefined }));
  const written =
    fresh.length === 0 ? [] : await client.enqueue(definition, items, { tx, trace, mapVersion: map.version });
  fresh.forEach(({ at }, index) => (answers[at] = written[index] ?? null));
  const conflict = page.find(({ at }) => found.get(at)?.conflict);
  if (conflict !== undefined) throw conflictOf(conflict.job, found.get(conflict.at));
}

/** @returns the jobs that cells which had the range before keep under these keys: their rows are final under this map. */
async function foundBefore(
  { cells, routeBy }: Routing,
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
    const store = cells.get(name)?.store;
    const answers = await store?.find(asked.map(({ job }) => job)).catch((error: unknown) => {
      throw new Error(`cell "${name}" had these keys before and did not answer: ${textOf(error)}`, { cause: error });
    });
    return asked.flatMap(({ at }, index): [number, InsertResult][] => {
      const answer = answers?.[index] ?? null;
      return answer === null ? [] : [[at, answer]];
    });
  });
  return new Map((await Promise.all(found)).flat());
}

const pagesOf = (places: readonly Place[]): readonly (readonly Place[])[] =>
  Array.from({ length: Math.ceil(places.length / contractLimits.insertRowsMax) }, (_, page) =>
    places.slice(page * contractLimits.insertRowsMax, (page + 1) * contractLimits.insertRowsMax),
  );

function fitting(map: CellMap, cells: Cells): CellMap {
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

function named(cell: string, owner: string | null, { kind, key }: NewJob, cells: Cells): string {
  if (!cells.has(cell))
    throw new RangeError(`cell of "${kind}" is "${cell}"; it must be one of ${[...cells.keys()].join(", ")}`);
  if (owner === null || owner === cell) return cell;
  throw new RangeError(
    `cell of "${kind}" is "${cell}", and key "${key}" belongs to "${owner}": leave the cell out, or name that one`,
  );
}

const conflictOf = ({ kind, key }: NewJob, found: InsertResult | undefined): KeyConflict =>
  new KeyConflict(kind, key ?? "", found?.id ?? "", found?.conflict ?? { existingHash: "", hash: "" });

/** A conflict of keys alone is what one stage would throw too. */
function failureOf(failed: readonly CellFailure[], answers: readonly (Enqueued | null)[]): unknown {
  const [first] = failed;
  return failed.every(({ error }) => error instanceof KeyConflict) ? first?.error : new CellsFailed(failed, answers);
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
