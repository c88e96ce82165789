import type { ComponentChildren } from "preact";
import { durationText } from "../time.ts";
import { words } from "../language/words.ts";
import { Nothing, RowLink, zeroOr } from "./marks.tsx";
import { Time } from "./time.tsx";

/** What a column says of a row. */
export interface Column<T> {
  readonly name: ComponentChildren;
  readonly cell: (row: T, index: number) => ComponentChildren;
  readonly isNumber?: boolean | undefined;
  /** Its name is only read out: what stands below it speaks for itself. */
  readonly isHidden?: boolean;
  /** A narrow window shows its name before the cell. */
  readonly isNamed?: boolean;
  /** Of the cells. `wide` takes a whole line of a narrow window, `wide-only` is left out there. */
  readonly class?: string | ((row: T) => string);
  readonly title?: (row: T) => string | undefined;
  /** As CSS writes it, for all columns or none: then no row changes it. */
  readonly width?: string;
  /** A click on its name sorts the rows by this, numbers from the largest, and the next click the other way. */
  readonly by?: (row: T) => string | number | null;
  /** Or asks the server for this order. */
  readonly order?: string;
}

/** Of a row: a member, by its name or computed. */
type Of<T, V> = (row: T) => V;
type By<T, V> = Of<T, V> | { readonly [K in keyof T]-?: T[K] extends V ? K : never }[keyof T];
const reads = <T, V>(by: By<T, V>): Of<T, V> => (typeof by === "function" ? by : (row) => row[by] as V);
type More<T> = Partial<Column<T>>;
type Shows = (value: number) => ComponentChildren;

const named = <T,>(name: string, by: By<T, number | null>, shows: Shows, more: More<T>): Column<T> => ({
  name,
  isNumber: true,
  isNamed: true,
  by: reads(by),
  cell(row) {
    const value = reads(by)(row);
    return value === null ? <Nothing /> : shows(value);
  },
  ...more,
});

/** Columns that many tables have: what they show of a row also sorts the rows. */
export const column = {
  text: <T,>(name: string, by: By<T, string | null>, more: More<T> = {}): Column<T> => ({
    name,
    by: reads(by),
    cell: reads(by),
    ...more,
  }),
  /** What a row is about, with the way to it. */
  link: <T,>(name: string, by: By<T, string | null>, to: Of<T, string>, more: More<T> = {}): Column<T> => ({
    name,
    by: reads(by),
    cell: (row) => (reads(by)(row) === null ? <Nothing /> : <RowLink to={to(row)} text={reads(by)(row)} />),
    ...more,
  }),
  time: <T,>(name: string, by: By<T, string | null>, more: More<T> = {}): Column<T> => ({
    name,
    isNamed: true,
    by: reads(by),
    cell: (row) => <Time at={reads(by)(row)} />,
    ...more,
  }),
  /** A zero steps back. */
  number: <T,>(name: string, by: By<T, number | null>, more: More<T> = {}): Column<T> =>
    named(name, by, (value) => zeroOr(value), more),
  duration: <T,>(name: string, by: By<T, number | null>, more: More<T> = {}): Column<T> =>
    named(name, by, durationText, more),
  /** The last one: what may be done with a row. */
  actions: <T,>(cell: Of<T, ComponentChildren>, more: More<T> = {}): Column<T> => ({
    name: words.shared.actions,
    isHidden: true,
    class: "pinned",
    cell(row) {
      const shown = cell(row);
      return shown === null ? null : <span class="line actions">{shown}</span>;
    },
    ...more,
  }),
} as const;
