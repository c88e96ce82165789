import type { Plan } from "../../test/postgres/plans.ts";

/** Pages at 10 N beside those at N: more than this is growth. */
export const pagesRatioMax = 1.3;
/** Less than this is no change at all: a row may lie on the next page. */
const sameRatioMax = 1.05;

export const kinds = ["statement", "route", "command", "screen"] as const;
export type Kind = (typeof kinds)[number];

/** What one thing cost at one size. */
export interface Cost {
  readonly pages: number;
  readonly rows: number;
  readonly milliseconds: number;
  /** Rows that its statements answered with. */
  readonly answered: number;
  readonly pagesOf: ReadonlyMap<string, number>;
}

export interface Line {
  readonly kind: Kind;
  readonly name: string;
  /** The table whose pages rose most; null when none did. */
  readonly grown: string | null;
  readonly few: Omit<Cost, "pagesOf">;
  readonly many: Omit<Cost, "pagesOf">;
  readonly ratio: number;
  readonly verdict: "O(1)" | "O(log N)" | "worse";
}

export const costOf = (plans: readonly Plan[]): Cost =>
  together(plans.map(({ buffers, pages: pagesOf, ...plan }) => ({ ...plan, pages: buffers, pagesOf })));

export function together(costs: readonly Cost[]): Cost {
  const pagesOf = new Map<string, number>();
  for (const each of costs) for (const [table, n] of each.pagesOf) pagesOf.set(table, (pagesOf.get(table) ?? 0) + n);
  return {
    pages: sum(costs, (each) => each.pages),
    rows: sum(costs, (each) => each.rows),
    milliseconds: sum(costs, (each) => each.milliseconds),
    answered: sum(costs, (each) => each.answered),
    pagesOf,
  };
}

const sum = (costs: readonly Cost[], of: (cost: Cost) => number): number =>
  costs.reduce((total, each) => total + of(each), 0);

/** The rounds of one call: the round with the fewest pages had no page split and no other work beside it. */
export const quietest = (rounds: readonly Cost[]): Cost =>
  rounds.reduce((best, each) => (each.pages < best.pages ? each : best));

export function compare(kind: Kind, name: string, few: Cost, many: Cost): Line {
  // A list of more rows may read more pages: it is judged by the page a row.
  const longer = Math.max(1, many.answered) / Math.max(1, few.answered);
  const ratio = many.pages / Math.max(1, few.pages) / Math.max(1, longer);
  const rises = [...many.pagesOf].map(([table, pages]) => ({ table, rise: pages - (few.pagesOf.get(table) ?? 0) }));
  const most = rises.toSorted((a, b) => b.rise - a.rise)[0];
  return {
    kind,
    name,
    grown: most !== undefined && most.rise > 0 ? most.table : null,
    few: shown(few),
    many: shown(many),
    ratio,
    verdict: ratio <= sameRatioMax ? "O(1)" : ratio <= pagesRatioMax ? "O(log N)" : "worse",
  };
}

const shown = ({ pages, rows, milliseconds, answered }: Cost): Omit<Cost, "pagesOf"> => ({
  pages,
  rows,
  milliseconds,
  answered,
});

/** Of the calls of one statement the one that grows most; calls are paired by their place where both sizes made as many. */
export function worst(name: string, few: readonly (readonly Cost[])[], many: readonly (readonly Cost[])[]): Line {
  const pairs =
    few.length === many.length
      ? few.map((each, n) => [each, many[n] ?? each] as const)
      : [[few.flat(), many.flat()] as const];
  const lines = pairs.map(([a, b]) => compare("statement", name, quietest(a), quietest(b)));
  const [first, ...others] = lines;
  if (first === undefined) throw new Error(`the statement ${name} was not run`);
  return others.reduce((most, each) => (each.ratio > most.ratio ? each : most), first);
}
