import { useEffect, useRef } from "preact/hooks";
import { scroller } from "./visible-rows.ts";

const restMs = 120;

/** Where the page was scrolled to, kept with the browser's entry: going back shows the rows that were looked at. No label, no place. */
export function useKeptPlace(label: string, rows: number): void {
  const wanted = useRef<number | null>(placeOf(label));
  useEffect(() => {
    const box = scroller();
    if (box === null || wanted.current === null || rows === 0) return;
    box.scrollTop = wanted.current;
    // With fewer rows than were loaded then, the last one asks for the next page.
    if (Math.abs(box.scrollTop - wanted.current) < 1) wanted.current = null;
  }, [rows]);
  useEffect(() => {
    const box = scroller();
    if (box === null || label === "") return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const keep = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => history.replaceState({ ...history.state, [label]: box.scrollTop }, ""), restMs);
    };
    const leave = (): void => {
      wanted.current = null;
    };
    if (placeOf(label) === null) box.scrollTop = 0;
    const gone = new AbortController();
    const own = { passive: true, signal: gone.signal };
    box.addEventListener("scroll", keep, own);
    box.addEventListener("wheel", leave, own);
    box.addEventListener("pointerdown", leave, own);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [label]);
}

function placeOf(label: string): number | null {
  const state: unknown = history.state;
  const kept = typeof state === "object" && state !== null ? (state as Record<string, unknown>)[label] : undefined;
  return typeof kept === "number" ? kept : null;
}
