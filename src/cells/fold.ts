/** How the same field of several cells' answers becomes one. A shape names a rule for each of its fields. */

/** What one cell said. */
export interface Said<T> {
  readonly cell: string;
  readonly value: T;
}

/** At least one cell said something. */
export type Fold<T> = (said: readonly Said<T>[]) => T;

/** A rule for each field of a shape: the compiler names one that is new, gone or renamed. Fields of no cell stay out. */
export const byField =
  <T extends object>(rules: { readonly [K in keyof T]-?: Fold<Exclude<T[K], undefined>> }): Fold<T> =>
  (said) =>
    Object.fromEntries(
      Object.entries(rules as Readonly<Record<string, Fold<unknown>>>).flatMap(([name, fold]) => {
        const values = said.map(({ cell, value }) => ({
          cell,
          value: (value as Readonly<Record<string, unknown>>)[name],
        }));
        const there = values.filter(({ value }) => value !== undefined);
        return there.length === 0 ? [] : [[name, fold(there)]];
      }),
    ) as T;

export const first = <T>([one]: readonly Said<T>[]): T => (one as Said<T>).value;
export const sum: Fold<number> = (said) => said.reduce((total, { value }) => total + value, 0);
export const some: Fold<boolean> = (said) => said.some(({ value }) => value);
export const every: Fold<boolean> = (said) => said.every(({ value }) => value);
export const largest: Fold<number> = (said) => Math.max(...said.map(({ value }) => value));
export const earliest: Fold<string> = (said) => said.map(({ value }) => value).toSorted()[0] ?? "";
export const latest: Fold<string> = (said) =>
  said
    .map(({ value }) => value)
    .toSorted()
    .at(-1) ?? "";

/** Null counts for nothing, and stands where all are null. */
export const maybe =
  <T>(fold: Fold<T>): Fold<T | null> =>
  (said) => {
    const there = said.filter((one): one is Said<T> => one.value !== null);
    return there.length === 0 ? null : fold(there);
  };

/** The whole value of the cell that comes first in this order. */
export const chosen =
  <T>(order: (a: T, b: T) => number): Fold<T> =>
  (said) =>
    first(said.toSorted((a, b) => order(a.value, b.value)));

/** Values of all, each once. */
export const union = <T>(said: readonly Said<T[]>[]): T[] => [...new Set(said.flatMap(({ value }) => value))];

const spread = <T>(said: readonly Said<T[]>[]): readonly Said<T>[] =>
  said.flatMap(({ cell, value }) => value.map((one) => ({ cell, value: one })));

/** Rows of all, each with the name of its cell, in this order and at most so many. */
export const rows =
  <T extends object>(order: (a: T, b: T) => number = () => 0, max = Infinity): Fold<T[]> =>
  (said) =>
    spread(said)
      .map(({ cell, value }) => ({ ...value, cell }))
      .toSorted(order)
      .slice(0, max);

/** Rows that are the same thing in several cells become one. */
export const grouped =
  <T extends object>(name: (row: T) => unknown, fold: Fold<T>, order: (a: T, b: T) => number = () => 0): Fold<T[]> =>
  (said) =>
    [...Map.groupBy(spread(said), ({ value }) => JSON.stringify(name(value))).values()].map(fold).toSorted(order);

/** Numbers at the same place add up. */
export const sums: Fold<number[]> = (said) => {
  const length = Math.max(0, ...said.map(({ value }) => value.length));
  return Array.from({ length }, (_, at) => said.reduce((total, { value }) => total + (value[at] ?? 0), 0));
};

const compare = <V extends string | number>(a: V, b: V): number => (a < b ? -1 : a > b ? 1 : 0);

export const up =
  <T>(of: (row: T) => string | number) =>
  (a: T, b: T): number =>
    compare(of(a), of(b));
export const down =
  <T>(of: (row: T) => string | number) =>
  (a: T, b: T): number =>
    compare(of(b), of(a));
