import { useEffect, useRef } from "preact/hooks";

const restMs = 120;

/** Where a table was scrolled to, kept with the browser's entry: going back shows the rows that were looked at. */
export function useKeptPlace(box: { readonly current: HTMLElement | null }, label: string, rows: number): void {
  const wanted = useRef<number | null>(placeOf(label));
  useEffect(() => {
    const element = box.current;
    if (element === null || wanted.current === null || rows === 0) return;
    element.scrollTop = wanted.current;
    // With fewer rows than were loaded then, the last one asks for the next page.
    if (Math.abs(element.scrollTop - wanted.current) < 1) wanted.current = null;
  }, [rows]);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const keep = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => history.replaceState({ ...history.state, [label]: element.scrollTop }, ""), restMs);
    };
    const leave = (): void => {
      wanted.current = null;
    };
    element.addEventListener("scroll", keep, { passive: true });
    element.addEventListener("wheel", leave, { passive: true });
    element.addEventListener("pointerdown", leave);
    return () => {
      clearTimeout(timer);
      element.removeEventListener("scroll", keep);
      element.removeEventListener("wheel", leave);
      element.removeEventListener("pointerdown", leave);
    };
  }, [label]);
}

function placeOf(label: string): number | null {
  const state: unknown = history.state;
  const kept = typeof state === "object" && state !== null ? (state as Record<string, unknown>)[label] : undefined;
  return typeof kept === "number" ? kept : null;
}
