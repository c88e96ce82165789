import type { ComponentChildren } from "preact";
import { durationText } from "../time.ts";
import { words } from "../language/words.ts";
import type { Column } from "./column.ts";
import { RowLink } from "./link.tsx";
import { Nothing, zeroOr } from "./nothing.tsx";
import { Time } from "./time.tsx";

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
