import { useEffect, useState } from "preact/hooks";

/** Rows that exist above and below the visible ones. */
export const rowsBeyond = 8;

/** What the page scrolls. */
export const scroller = (): HTMLElement | null => document.getElementById("main");

interface Visible {
  readonly from: number;
  readonly to: number;
}

/** The visible rows and a few more, of a table whose rows have one height; a scroll reads only the position. */
export function useVisible(body: { readonly current: HTMLElement | null }, rowHeight: number | undefined): Visible {
  const [visible, setVisible] = useState<Visible>({ from: 0, to: Math.ceil(innerHeight / (rowHeight ?? 34)) });
  useEffect(() => {
    const box = scroller();
    const element = body.current;
    if (element === null || box === null || rowHeight === undefined) return;
    let top = 0;
    const look = (): void =>
      setVisible((before) => visibleOf({ top: box.scrollTop - top, height: box.clientHeight, rowHeight }, before));
    const measure = (): void => {
      top = element.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
      look();
    };
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    observer.observe(element);
    box.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener("scroll", look);
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
  const beyond = first < before.from - rowsBeyond || first > before.to ? 0 : rowsBeyond;
  const from = Math.max(0, Math.floor((first - beyond) / 4) * 4);
  const to = Math.max(from, Math.ceil((first + height / rowHeight + beyond) / 4) * 4);
  return from === before.from && to === before.to ? before : { from, to };
}
