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
  /** A click on its name sorts the rows by this, smallest first, then largest first. */
  readonly by?: (row: T) => string | number | null;
  /** Or asks the server for this order. */
  readonly order?: string;
}

/** Of a row: a member. */
type Of<T, V> = (row: T) => V;
type More<T> = Partial<Column<T>>;
type Shows = (value: number) => ComponentChildren;

const named = <T,>(name: string, by: Of<T, number | null>, shows: Shows, more: More<T>): Column<T> => ({
  name,
  isNumber: true,
  isNamed: true,
  by,
  cell(row) {
    const value = by(row);
    return value === null ? <Nothing /> : shows(value);
  },
  ...more,
});

/** Columns that many tables have: what they show of a row also sorts the rows. */
export const column = {
  text: <T,>(name: string, by: Of<T, string | null>, more: More<T> = {}): Column<T> => ({
    name,
    by,
    cell: by,
    ...more,
  }),
  /** What a row is about, with the way to it. */
  link: <T,>(name: string, by: Of<T, string | null>, to: Of<T, string>, more: More<T> = {}): Column<T> => ({
    name,
    by,
    cell: (row) => (by(row) === null ? <Nothing /> : <RowLink to={to(row)} text={by(row)} />),
    ...more,
  }),
  time: <T,>(name: string, by: Of<T, string | null>, more: More<T> = {}): Column<T> => ({
    name,
    isNamed: true,
    by,
    cell: (row) => <Time at={by(row)} />,
    ...more,
  }),
  /** A zero steps back. */
  number: <T,>(name: string, by: Of<T, number | null>, more: More<T> = {}): Column<T> =>
    named(name, by, (value) => zeroOr(value), more),
  duration: <T,>(name: string, by: Of<T, number | null>, more: More<T> = {}): Column<T> =>
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
