import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Of each row, in pixels; the style sheet's `--row`. */
export const rowHeight = 34;
const rowsBeyond = 12;

interface VirtualRowsProps {
  readonly label: string;
  readonly columns: readonly { readonly name: ComponentChildren; readonly isNumber?: boolean }[];
  /** Widths of the columns, as CSS writes them. */
  readonly template: string;
  readonly rows: number;
  readonly row: (index: number) => ComponentChildren;
  /** Kept in sight. */
  readonly current: number;
  /** The end of what is loaded comes into sight. */
  readonly onEnd: () => void;
  readonly foot?: ComponentChildren;
}

/** A table of which only the rows in sight exist, so that a hundred thousand scroll like fifty. */
export function VirtualRows({ label, columns, template, rows, row, current, onEnd, foot }: VirtualRowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ from: 0, to: 60 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const look = (): void => setSight((before) => sightOf(element, before));
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  useEffect(() => {
    if (sight.to >= rows - rowsBeyond) onEnd();
  }, [sight.to, rows]);
  useEffect(() => keepInSight(box.current, current), [current]);
  const from = Math.min(sight.from, rows);
  const to = Math.min(sight.to, rows);
  return (
    <div
      ref={box}
      class="rows"
      role="table"
      aria-label={label}
      aria-rowcount={rows + 1}
      style={{ "--columns": template }}
    >
      <div class="rows-head" role="row" aria-rowindex={1}>
        {columns.map(({ name, isNumber }, index) => (
          <span key={index} role="columnheader" class={isNumber === true ? "number" : ""}>
            {name}
          </span>
        ))}
      </div>
      <div class="rows-body" role="rowgroup" style={{ height: `${rows * rowHeight}px` }}>
        <div role="presentation" class="rows-window" style={{ transform: `translateY(${from * rowHeight}px)` }}>
          {Array.from({ length: Math.max(0, to - from) }, (_, index) => row(from + index))}
        </div>
      </div>
      {foot}
    </div>
  );
}

/** Steps of a few rows, so that most scroll events change nothing. */
function sightOf({ scrollTop, clientHeight }: HTMLElement, before: { from: number; to: number }) {
  const first = Math.floor(scrollTop / rowHeight);
  const from = Math.max(0, Math.floor((first - rowsBeyond) / 4) * 4);
  const to = Math.ceil((first + clientHeight / rowHeight + rowsBeyond) / 4) * 4;
  return from === before.from && to === before.to ? before : { from, to };
}

function keepInSight(box: HTMLElement | null, index: number): void {
  if (box === null || index < 0) return;
  const top = index * rowHeight;
  const visible = box.clientHeight - 2 * rowHeight;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top > box.scrollTop + visible) box.scrollTop = top - visible;
}
