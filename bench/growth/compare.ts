import type { Plan, Write } from "../../test/postgres/plans.ts";

/** Pages at 10 N beside those at N: more than this is growth. */
export const pagesRatioMax = 1.3;
/** Less than this is no change at all: a row may lie on the next page. */
const sameRatioMax = 1.05;

export type Kind = "statement" | "route" | "screen";

/** What one thing cost at one size. */
export interface Cost {
  readonly pages: number;
  readonly rows: number;
  /** Those of them that were read from tables. */
  readonly read: number;
  readonly milliseconds: number;
  /** Rows that its statements answered with. */
  readonly answered: number;
  readonly pagesOf: ReadonlyMap<string, number>;
  /** How often each index was descended, at least. */
  readonly descents: ReadonlyMap<string, number>;
  readonly writes: readonly Write[];
}

type Shown = Omit<Cost, "pagesOf" | "descents" | "writes">;

/** A row is written to a page of its table, found along the three levels of the map of free space, and the map of visible pages. */
const roomPages = 5;

/** The levels of each index below its root; of a table the pages on the way down all of its indexes. */
export type Levels = ReadonlyMap<string, number>;

/** What a comparison knows beside the costs. */
interface Known {
  readonly levels?: { readonly few: Levels; readonly many: Levels };
  /** The most rows that it reads, of which there are more at 10 N: the bound that it states. */
  readonly readsMax?: number | undefined;
}

export interface Line {
  readonly kind: Kind;
  readonly name: string;
  /** The table whose pages rose most; null when none did. */
  readonly grown: string | null;
  readonly few: Shown;
  readonly many: Shown;
  /** Pages at 10 N that are levels which the indexes of the plan have there and not at N. */
  readonly levelPages: number;
  readonly ratio: number;
  readonly verdict: "O(1)" | "O(log N)" | "O(rows)" | "worse";
}

export const costOf = (plans: readonly Plan[]): Cost =>
  together(plans.map(({ buffers, pages: pagesOf, ...plan }) => ({ ...plan, pages: buffers, pagesOf })));

export function together(costs: readonly Cost[]): Cost {
  const pagesOf = new Map<string, number>();
  const descents = new Map<string, number>();
  for (const each of costs) {
    for (const [table, n] of each.pagesOf) pagesOf.set(table, (pagesOf.get(table) ?? 0) + n);
    for (const [index, n] of each.descents) descents.set(index, (descents.get(index) ?? 0) + n);
  }
  return {
    pages: sum(costs, (each) => each.pages),
    rows: sum(costs, (each) => each.rows),
    read: sum(costs, (each) => each.read),
    milliseconds: sum(costs, (each) => each.milliseconds),
    answered: sum(costs, (each) => each.answered),
    pagesOf,
    descents,
    writes: costs.flatMap(({ writes }) => writes),
  };
}

const sum = <T>(all: readonly T[], of: (each: T) => number): number => all.reduce((total, each) => total + of(each), 0);

/** The rounds of one call: the round with the fewest pages had no page split and no other work beside it. */
export const quietest = (rounds: readonly Cost[]): Cost =>
  rounds.reduce((best, each) => (each.pages < best.pages ? each : best));

/**
 * A line is O(log N) too when it grows by no more than the measured levels that its indexes have more. It is O(rows) when it reads as
 * many rows at most, or no more than its bound, and no more pages than one for each row and those on the way down each index; and
 * writes as many, of which each goes down each index of its table.
 */
export function compare(
  [kind, name]: readonly [Kind, string],
  few: Cost,
  many: Cost,
  { levels, readsMax = 0 }: Known = {},
): Line {
  // A list of more rows may read more pages: it is judged by the page a row.
  const longer = Math.max(1, many.answered) / Math.max(1, few.answered);
  const ratioOf = (pages: number): number => pages / Math.max(1, few.pages) / Math.max(1, longer);
  const ratio = ratioOf(many.pages);
  const pagesDown = (at: Levels | undefined): number =>
    sum([...many.descents], ([index, n]) => n * (at?.get(index) ?? levels?.many.get(index) ?? 0));
  const levelPages = pagesDown(levels?.many) - pagesDown(levels?.few);
  const leaves = sum([...many.descents.values()], (n) => n);
  const wayOf = ({ table }: Write): number => roomPages + (levels?.many.get(table) ?? 0);
  const written = sum(many.writes, (each) => Math.min(each.pages, each.rows * wayOf(each)));
  const isByRow =
    many.read <= Math.max(few.read, readsMax) &&
    sum(many.writes, ({ rows }) => rows) <= sum(few.writes, ({ rows }) => rows) &&
    many.pages - written <= many.read + pagesDown(levels?.many) + leaves;
  const isLogarithmic = ratio <= pagesRatioMax || ratioOf(many.pages - levelPages) <= sameRatioMax;
  const rises = [...many.pagesOf].map(([table, pages]) => ({ table, rise: pages - (few.pagesOf.get(table) ?? 0) }));
  const most = rises.toSorted((a, b) => b.rise - a.rise)[0];
  return {
    kind,
    name,
    grown: most !== undefined && most.rise > 0 ? most.table : null,
    few: shown(few),
    many: shown(many),
    ratio,
    levelPages,
    verdict: ratio <= sameRatioMax ? "O(1)" : isLogarithmic ? "O(log N)" : isByRow ? "O(rows)" : "worse",
  };
}

const shown = ({ pagesOf: _pages, descents: _descents, writes: _writes, ...cost }: Cost): Shown => cost;

/** Of the calls of one statement the one that grows most; calls are paired by their place where both sizes made as many. */
export function worst(
  name: string,
  few: readonly (readonly Cost[])[],
  many: readonly (readonly Cost[])[],
  known: Known,
): Line {
  const pairs =
    few.length === many.length
      ? few.map((each, n) => [each, many[n] ?? each] as const)
      : [[few.flat(), many.flat()] as const];
  const lines = pairs.map(([a, b]) => compare(["statement", name], quietest(a), quietest(b), known));
  const [first, ...others] = lines;
  if (first === undefined) throw new Error(`the statement ${name} was not run`);
  return others.reduce((most, each) => (weightOf(each) > weightOf(most) ? each : most), first);
}

/** A line that is worse stands before every line that is not. */
const weightOf = ({ verdict, ratio }: Line): number => (verdict === "worse" ? ratio * 1_000 : ratio);
