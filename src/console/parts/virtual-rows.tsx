import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useKeptPlace } from "./kept-place.ts";
import { placesOf } from "./row-places.ts";

/** Of a row of one line and of the head, in pixels; the style sheet's `--row`. */
const lineHeight = 34;
/** Rows that exist above and below the visible ones. */
export const rowsBeyond = 8;

export interface RowColumn {
  readonly name: ComponentChildren;
  readonly isNumber?: boolean;
  /** The table is sorted by it. */
  readonly isSorted?: boolean;
}

interface VirtualRowsProps {
  readonly label: string;
  readonly columns: readonly RowColumn[];
  /** Widths of the columns, as CSS writes them. */
  readonly template: string;
  readonly rows: number;
  readonly row: (index: number) => ComponentChildren;
  /** Names a row's content at any index: a row that stays visible keeps its elements, and with them the focus. */
  readonly idOf: (index: number) => string;
  /** Scrolled into view. */
  readonly current: number;
  /** Of each row, in pixels. */
  readonly height?: number | undefined;
  /** Called with the visible and nearby rows, also when the number of rows changes. */
  readonly onView: (from: number, to: number) => void;
  readonly foot?: ComponentChildren;
}

/** A table in which only the visible rows exist, so that a hundred thousand scroll like fifty. */
export function VirtualRows(props: VirtualRowsProps) {
  const { label, columns, template, rows, row, idOf, current, onView, foot, height = lineHeight } = props;
  const box = useRef<HTMLDivElement>(null);
  const view = useVisible(box, height);
  useKeptPlace(box, label, rows);
  useEffect(() => {
    onView(view.from, view.to);
  }, [view.from, view.to, rows]);
  useEffect(() => scrollIntoView(box.current, current, height), [current]);
  const from = Math.min(view.from, rows);
  const to = Math.min(view.to, rows);
  const shown = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
  const places = usePlaces(shown.map(idOf), box);
  return (
    <div
      ref={box}
      class="rows"
      role="table"
      aria-label={label}
      aria-rowcount={rows + 1}
      style={{ "--columns": template, "--row-height": `${height}px`, height: `${rows * height + lineHeight + 2}px` }}
    >
      <div class="rows-head" role="row" aria-rowindex={1}>
        {columns.map(({ name, isNumber, isSorted }, index) => (
          <span
            key={index}
            role="columnheader"
            class={isNumber === true ? "number" : ""}
            aria-sort={isSorted === true ? "ascending" : undefined}
          >
            {name}
          </span>
        ))}
      </div>
      <div class="rows-body" role="rowgroup" style={{ height: `${rows * height}px` }}>
        <div role="presentation" class="rows-window" style={{ transform: `translateY(${from * height}px)` }}>
          {shown.map((index, at) => (
            <Fragment key={places[at]}>{row(index)}</Fragment>
          ))}
        </div>
      </div>
      {foot}
    </div>
  );
}

interface Visible {
  readonly from: number;
  readonly to: number;
}

/** The visible rows and a few more. A scroll reads only the position; the height comes from the observer. */
function useVisible(box: { readonly current: HTMLElement | null }, rowHeight: number): Visible {
  const [visible, setVisible] = useState<Visible>({ from: 0, to: Math.ceil(innerHeight / rowHeight) });
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    let height = element.clientHeight;
    const look = (): void => setVisible((before) => visibleOf({ top: element.scrollTop, height, rowHeight }, before));
    const observer = new ResizeObserver(([entry]) => {
      height = entry?.contentRect.height ?? height;
      look();
    });
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [rowHeight]);
  return visible;
}

interface Scrolled {
  readonly top: number;
  readonly height: number;
  readonly rowHeight: number;
}

/** Steps of a few rows, so that most scroll events change nothing. */
function visibleOf({ top, height, rowHeight }: Scrolled, before: Visible): Visible {
  const first = Math.floor(top / rowHeight);
  // After a jump only the visible rows; the rows beyond come with the next small step.
  const beyond = first < before.from || first > before.to ? 0 : rowsBeyond;
  const from = Math.max(0, Math.floor((first - beyond) / 4) * 4);
  const to = Math.ceil((first + height / rowHeight + beyond) / 4) * 4;
  return from === before.from && to === before.to ? before : { from, to };
}

/** The element with the focus goes when its row does: a key that was meant for one row must not reach another. */
function usePlaces(ids: readonly string[], box: { readonly current: HTMLElement | null }): readonly number[] {
  const held = useRef<ReadonlyMap<string, number>>(new Map());
  const focused = box.current?.querySelector<HTMLElement>(".row:focus-within")?.dataset["id"];
  held.current = placesOf(ids, held.current, focused);
  return ids.map((id) => held.current.get(id) ?? 0);
}

function scrollIntoView(box: HTMLElement | null, index: number, rowHeight: number): void {
  if (box === null || index < 0) return;
  const top = index * rowHeight;
  const heightMax = box.clientHeight - lineHeight - rowHeight;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top > box.scrollTop + heightMax) box.scrollTop = top - heightMax;
}
