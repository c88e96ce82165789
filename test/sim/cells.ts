/** Cells in virtual time: the real router before queues that serve as fast as the measured cost of a job allows. */
import { cellOf } from "../../src/cells/route.ts";
import { evenMap } from "../../src/core/ports/cell-map.ts";
import { seededRandom } from "../support/seeded-random.ts";

/** Jobs in batches of ten on one core, Postgres and Node: docs/scale.md, "What a job costs". */
const measuredUs = 295 + 239;
/** Of what a cell can do, without a fault. */
const load = 0.7;
/** A slow cell needs so many times as long for a job. */
const slowBy = 2;
/** Of all jobs, those of one hot key. */
const hotShare = 0.02;
const secondsSimulated = 100;

export interface CellLine {
  readonly cell: string;
  readonly what: "usual" | "lost" | "slow" | "hot key";
  /** Jobs a second that ended, and what the closed form says. */
  readonly throughput: number;
  readonly throughputModel: number;
  /** Mean time from arrival to start, in ms, and what the closed form says; null of a lost cell. */
  readonly waitedMs: number | null;
  readonly waitedModelMs: number | null;
}

/** Cell 0 is lost from the beginning, cell 1 is slow, and the cell of the hot key has its share and that key's. */
export function simulateCells(count: number, seed: number): readonly CellLine[] {
  const random = seededRandom(seed);
  const names = Array.from({ length: count }, (_, number) => `c${number}`);
  const map = evenMap(Object.fromEntries(names.map((name, number) => [name, { number, stage: name, api: "" }])));
  const hotKey = hotKeyFor(map, new Set(names.slice(0, 2)));
  const serviceS = measuredUs / 1e6;
  const cells = new Map(
    names.map((name, index) => [
      name,
      { serviceS: index === 1 ? serviceS * slowBy : serviceS, freeAt: 0, ended: 0, waitedS: 0, arrived: 0 },
    ]),
  );
  const rate = (count * load) / serviceS;
  for (let now = 0; now < secondsSimulated; now += -Math.log(1 - random.next()) / rate) {
    const key = random.next() < hotShare ? hotKey : `k${random.next()}`;
    const name = cellOf(map, key);
    const cell = cells.get(name);
    if (cell === undefined || name === names[0]) continue;
    const start = Math.max(now, cell.freeAt);
    cell.arrived += 1;
    cell.waitedS += start - now;
    cell.freeAt = start + cell.serviceS;
    if (cell.freeAt < secondsSimulated) cell.ended += 1;
  }
  return names.map((name, index): CellLine => {
    const what = index === 0 ? "lost" : index === 1 ? "slow" : name === cellOf(map, hotKey) ? "hot key" : "usual";
    const cell = cells.get(name) ?? { serviceS, ended: 0, waitedS: 0, arrived: 0 };
    const asked = rate * ((1 - hotShare) / count + (what === "hot key" ? hotShare : 0));
    const model = what === "lost" ? { throughput: 0, waitedS: null } : closedForm(asked, cell.serviceS);
    return {
      cell: name,
      what,
      throughput: cell.ended / secondsSimulated,
      throughputModel: model.throughput,
      waitedMs: what === "lost" ? null : (cell.waitedS / cell.arrived) * 1_000,
      waitedModelMs: model.waitedS === null ? null : model.waitedS * 1_000,
    };
  });
}

/** M/D/1: random arrivals, the same work for each. What cannot be served in time waits longer and longer, its mean half the last wait. */
function closedForm(asked: number, serviceS: number): { readonly throughput: number; readonly waitedS: number } {
  const used = asked * serviceS;
  if (used < 1) return { throughput: asked, waitedS: (used * serviceS) / (2 * (1 - used)) };
  return { throughput: 1 / serviceS, waitedS: (secondsSimulated * (used - 1)) / 2 };
}

/** A key of a cell that is neither lost nor slow. */
function hotKeyFor(map: Parameters<typeof cellOf>[0], besides: ReadonlySet<string>): string {
  for (let n = 0; ; n += 1) if (!besides.has(cellOf(map, `hot-${n}`))) return `hot-${n}`;
}

/** As a share of the model. */
export const cellsApartMax = 0.2;

/** Largest share by which a figure and its model differ. */
export const apart = (lines: readonly CellLine[]): number =>
  Math.max(
    ...lines
      .flatMap((line) => [
        [line.throughput, line.throughputModel] as const,
        [line.waitedMs ?? 0, line.waitedModelMs ?? 0] as const,
      ])
      .map(([found, model]) => (found === model ? 0 : Math.abs(found / model - 1))),
  );

export function cellsTable(lines: readonly CellLine[]): string {
  const row = (line: CellLine): string =>
    [
      line.cell.padEnd(5),
      line.what.padEnd(8),
      ...[line.throughput, line.throughputModel].map((value) => value.toFixed(0).padStart(10)),
      ...[line.waitedMs, line.waitedModelMs].map((value) => (value === null ? "-" : value.toPrecision(3)).padStart(10)),
    ].join(" ");
  const total = (of: (line: CellLine) => number): string => lines.reduce((sum, line) => sum + of(line), 0).toFixed(0);
  return [
    "cell  what       jobs/s      model  waited ms      model",
    ...lines.map(row),
    `all: ${total(({ throughput }) => throughput)} jobs/s, model ${total(({ throughputModel }) => throughputModel)}; figures and model are at most ${(apart(lines) * 100).toFixed(1)} % apart`,
  ].join("\n");
}
