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
type Shows<T, V> = (value: V, row: T) => ComponentChildren;

function shown<T, V extends string | number>(name: string, by: By<T, V | null>, shows: Shows<T, V>, more: More<T>) {
  const of = reads(by);
  const cell = (row: T): ComponentChildren => {
    const value = of(row);
    return value === null ? <Nothing /> : shows(value, row);
  };
  return { name, by: of, cell, ...more };
}

const figure = { isNumber: true, isNamed: true };

/** Columns that many tables have: what they show of a row also sorts the rows. */
export const column = {
  text: <T,>(name: string, by: By<T, string | null>, more: More<T> = {}): Column<T> =>
    shown(name, by, (value) => value, more),
  /** What a row is about, with the way to it. */
  link: <T,>(name: string, by: By<T, string | null>, to: Of<T, string>, more: More<T> = {}): Column<T> =>
    shown(name, by, (text, row) => <RowLink to={to(row)} text={text} />, more),
  time: <T,>(name: string, by: By<T, string | null>, more: More<T> = {}): Column<T> =>
    shown(name, by, (at) => <Time at={at} />, { isNamed: true, ...more }),
  /** A zero steps back. */
  number: <T,>(name: string, by: By<T, number | null>, more: More<T> = {}): Column<T> =>
    shown(name, by, (value) => zeroOr(value), { ...figure, ...more }),
  duration: <T,>(name: string, by: By<T, number | null>, more: More<T> = {}): Column<T> =>
    shown(name, by, durationText, { ...figure, ...more }),
  /** The last one: what may be done with a row. */
  actions: <T,>(cell: Of<T, ComponentChildren>, more: More<T> = {}): Column<T> => ({
    name: words.shared.actions,
    isHidden: true,
    class: "pinned",
    cell(row) {
      const children = cell(row);
      return children === null ? null : <span class="line actions">{children}</span>;
    },
    ...more,
  }),
} as const;
