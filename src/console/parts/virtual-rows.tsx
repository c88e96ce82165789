import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { placesOf } from "./row-places.ts";

/** Of a row of one line and of the head, in pixels; the style sheet's `--row`. */
const lineHeight = 34;
/** Rows that exist above and below those in sight. */
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
  /** Names what a row shows, wherever it stands: a row that stays in sight keeps its elements, and with them the focus. */
  readonly idOf: (index: number) => string;
  /** Kept in sight. */
  readonly current: number;
  /** Of each row, in pixels. */
  readonly height?: number;
  /** These rows are in sight or close to it; also told when their number changes. */
  readonly onView: (from: number, to: number) => void;
  readonly foot?: ComponentChildren;
}

/** A table of which only the rows in sight exist, so that a hundred thousand scroll like fifty. */
export function VirtualRows(props: VirtualRowsProps) {
  const { label, columns, template, rows, row, idOf, current, onView, foot, height = lineHeight } = props;
  const box = useRef<HTMLDivElement>(null);
  const sight = useSight(box, height);
  useEffect(() => {
    onView(sight.from, sight.to);
  }, [sight.from, sight.to, rows]);
  useEffect(() => keepInSight(box.current, current, height), [current]);
  const from = Math.min(sight.from, rows);
  const to = Math.min(sight.to, rows);
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

interface Sight {
  readonly from: number;
  readonly to: number;
}

/** The rows in sight and a few beyond. While it scrolls only the place is read: the height is told when it changes. */
function useSight(box: { readonly current: HTMLElement | null }, rowHeight: number): Sight {
  const [sight, setSight] = useState<Sight>({ from: 0, to: 60 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    let height = element.clientHeight;
    const look = (): void => setSight((before) => sightOf({ top: element.scrollTop, height, rowHeight }, before));
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
  return sight;
}

interface Scrolled {
  readonly top: number;
  readonly height: number;
  readonly rowHeight: number;
}

/** Steps of a few rows, so that most scroll events change nothing. */
function sightOf({ top, height, rowHeight }: Scrolled, before: Sight): Sight {
  const first = Math.floor(top / rowHeight);
  // After a jump only what is in sight: the rows beyond it come with the next small step.
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

function keepInSight(box: HTMLElement | null, index: number, rowHeight: number): void {
  if (box === null || index < 0) return;
  const top = index * rowHeight;
  const visible = box.clientHeight - lineHeight - rowHeight;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top > box.scrollTop + visible) box.scrollTop = top - visible;
}
