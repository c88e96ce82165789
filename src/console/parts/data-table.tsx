import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Card, type CardHead } from "./card.tsx";
import type { Column } from "./column.tsx";
import { Icon } from "./icon.tsx";
import { useKeptPlace } from "./kept-place.ts";
import { useHiddenColumns } from "./hidden-columns.tsx";
import { placesOf } from "./row-places.ts";
import { scroller, useVisible } from "./visible-rows.ts";

/** Of a row of one line and of the head, in pixels; the style sheet's `--row`. */
const lineHeight = 34;

interface DataTableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  /** An array, or what looks like one: rows that are not loaded are undefined. */
  readonly rows: { readonly length: number; at(index: number): T | undefined };
  readonly idOf: (row: T) => string;
  /** Said in place of a table without rows. */
  readonly none?: string;
  /** Further classes of the table, of a row. */
  readonly look?: string;
  readonly rowClass?: (row: T) => string;
  /** Of each row, in pixels: then only the rows in view exist, so that a hundred thousand scroll like fifty. */
  readonly height?: number;
  /** Scrolled into view; the row that keys act on. */
  readonly current?: number;
  /** Called with the visible and nearby rows, also when the number of rows changes. */
  readonly onView?: (from: number, to: number) => void;
  readonly order?: string;
  readonly onOrder?: (order: string) => void;
  /** Columns may be left out by the reader; the browser remembers which. */
  readonly canHide?: boolean;
}

interface Sorted {
  readonly column: number;
  readonly isDown: boolean;
}

/** The one kind of table. The page scrolls, its head stays; too wide for a window, it scrolls sideways in its own box. */
export const DataTable = <T,>(props: DataTableProps<T>) =>
  props.none !== undefined && props.rows.length === 0 ? <p class="card-empty">{props.none}</p> : <Table {...props} />;

/** A table under its title. */
export const TableCard = <T,>({ title, about, ...table }: Omit<DataTableProps<T>, "label"> & CardHead) => (
  <Card title={title} about={about}>
    <DataTable label={title} {...table} />
  </Card>
);

function Table<T>(props: DataTableProps<T>) {
  const { label, rows, idOf, look = "", height, current = -1, onView, canHide = false } = props;
  const box = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const scrolls = useScrolls(box);
  const [sorted, setSorted] = useState<Sorted | null>(null);
  const { columns, menu } = useHiddenColumns(label, props.columns, canHide);
  const view = useVisible(body, height);
  useKeptPlace(height === undefined ? "" : label, rows.length);
  const from = height === undefined ? 0 : Math.min(view.from, rows.length);
  const to = height === undefined ? rows.length : Math.min(view.to, rows.length);
  useEffect(() => onView?.(view.from, view.to), [view.from, view.to, rows.length]);
  useEffect(() => scrollIntoView(body.current, current, height ?? lineHeight), [current]);
  const order = useMemo(() => sortedRows(rows, columns, sorted), [rows, sorted]);
  const shown = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
  const keyOf = (index: number): string => {
    const row = order.at(index);
    return row === undefined ? `place ${index}` : idOf(row);
  };
  const places = usePlaces(shown.map(keyOf), body);
  const isLaid = columns.some(({ width }) => width !== undefined);
  const style = {
    "--columns": columns.map(({ width }) => width).join(" "),
    ...(height === undefined ? {} : { "--row-height": `${height}px` }),
  };
  return (
    <div ref={box} class="scroll-table" {...(scrolls ? { tabIndex: 0, role: "region", "aria-label": label } : {})}>
      {menu}
      <table
        class={`table ${look}${isLaid ? " laid" : ""}`}
        aria-label={label}
        aria-rowcount={rows.length + 1}
        style={style}
      >
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column, index) => (
              <Head key={index} {...{ column, index, sorted, setSorted }} order={props.order} onOrder={props.onOrder} />
            ))}
          </tr>
        </thead>
        <tbody
          ref={body}
          style={height === undefined ? {} : { height: `${rows.length * height}px`, paddingTop: `${from * height}px` }}
        >
          {shown.map((index, at) => {
            const row = order.at(index);
            const marks = `row${index === current ? " current" : ""} ${row === undefined ? "" : (props.rowClass?.(row) ?? "")}`;
            return (
              <tr
                key={places[at]}
                class={marks}
                data-id={keyOf(index)}
                aria-rowindex={index + 2}
                aria-busy={row === undefined}
              >
                {row === undefined ? (
                  <td class="dim">…</td>
                ) : (
                  columns.map((of, place) => <Cell key={place} {...{ of, row, index }} />)
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Cell<T>({ of, row, index }: { readonly of: Column<T>; readonly row: T; readonly index: number }) {
  const { class: look, isNumber, isNamed, name, title, cell } = of;
  const own = typeof look === "function" ? look(row) : look;
  const both = [isNumber === true ? "number" : "", own ?? ""].filter((each) => each !== "").join(" ");
  return (
    <td class={both} data-label={isNamed === true ? name : undefined} title={title?.(row)}>
      {cell(row, index)}
    </td>
  );
}

interface HeadProps<T> {
  readonly column: Column<T>;
  readonly index: number;
  readonly sorted: Sorted | null;
  readonly setSorted: (sorted: Sorted) => void;
  readonly order: string | undefined;
  readonly onOrder: ((order: string) => void) | undefined;
}

function Head<T>({ column, index, sorted, setSorted, order, onOrder }: HeadProps<T>) {
  const { name, isNumber, isHidden, by, order: own } = column;
  const isHere = sorted?.column === index;
  const isDown = isHere && sorted.isDown;
  const isSorted = isHere || (own !== undefined && own === order);
  const sort = (): void =>
    own === undefined ? setSorted({ column: index, isDown: isHere ? !isDown : isNumber === true }) : onOrder?.(own);
  return (
    <th
      scope="col"
      class={isNumber === true ? "number" : ""}
      aria-sort={isSorted ? (isDown ? "descending" : "ascending") : undefined}
    >
      {isHidden === true ? (
        <span class="hidden">{name}</span>
      ) : by === undefined && own === undefined ? (
        name
      ) : (
        <button type="button" class="sort" onClick={sort}>
          {name}
          {isSorted ? <Icon name={isDown ? "up" : "down"} size={12} /> : null}
        </button>
      )}
    </th>
  );
}

function sortedRows<T>(rows: DataTableProps<T>["rows"], columns: readonly Column<T>[], sorted: Sorted | null) {
  const by = columns[sorted?.column ?? -1]?.by;
  if (by === undefined || sorted === null) return rows;
  const all = Array.from({ length: rows.length }, (_, index) => rows.at(index)).filter((row) => row !== undefined);
  const sign = sorted.isDown ? -1 : 1;
  return all.toSorted((a, b) => sign * compare(by(a), by(b)));
}

/** What is not there comes first. */
function compare(a: string | number | null, b: string | number | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return typeof a === "string" || typeof b === "string" ? String(a).localeCompare(String(b)) : a - b;
}

/** Whether the keyboard has to reach the box, to move it sideways. */
function useScrolls(box: { readonly current: HTMLElement | null }): boolean {
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setScrolls(element.scrollWidth > element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return scrolls;
}

/** The element with the focus goes when its row does: a key that was meant for one row must not reach another. */
function usePlaces(ids: readonly string[], body: { readonly current: HTMLElement | null }): readonly number[] {
  const held = useRef<ReadonlyMap<string, number>>(new Map());
  const focused = body.current?.querySelector<HTMLElement>(".row:focus-within")?.dataset["id"];
  held.current = placesOf(ids, held.current, focused);
  return ids.map((id) => held.current.get(id) ?? 0);
}

function scrollIntoView(body: HTMLElement | null, index: number, rowHeight: number): void {
  const box = scroller();
  if (body === null || box === null || index < 0) return;
  const top = body.getBoundingClientRect().top - box.getBoundingClientRect().top + index * rowHeight;
  if (top < lineHeight) box.scrollTop += top - lineHeight;
  else if (top + rowHeight > box.clientHeight) box.scrollTop += top + rowHeight - box.clientHeight;
}
