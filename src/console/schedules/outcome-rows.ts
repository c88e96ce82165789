import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../http.ts";
import type { OutcomeQuery } from "./schedule-filter.ts";
import { afterwards, slowChanges } from "../live.ts";
import type { ScheduleOutcomeReply } from "../../api/shape/schedule-outcome.ts";

/** As many as one answer holds. */
const pageRows = 100;
const step = 25;

export interface OutcomeRows {
  /** How many match; null until the first answer. */
  readonly total: number | null;
  /** More may match: not every failure was looked at. */
  readonly isMore: boolean;
  /** Undefined while it is not loaded. */
  readonly at: (index: number) => ScheduleOutcomeReply | undefined;
  readonly loaded: readonly ScheduleOutcomeReply[];
  readonly error: Error | null;
  readonly onView: (from: number, to: number) => void;
  readonly reload: () => void;
}

interface HeldRows {
  readonly key: string;
  readonly rows: ReadonlyMap<number, ScheduleOutcomeReply>;
  readonly total: number | null;
  readonly isMore: boolean;
  readonly error: Error | null;
}

const begin = (key: string): HeldRows => ({ key, rows: new Map(), total: null, isMore: false, error: null });

/** The schedules in view, and no others: one request brings them, one more refreshes them when something changed. */
export function useOutcomeRows(key: string, query: OutcomeQuery | null): OutcomeRows {
  const [held, setHeld] = useState<HeldRows>(() => begin(key));
  const own = useRef({ query, held, view: { from: 0, to: step }, asked: new AbortController(), isBusy: false });
  own.current.query = query;
  own.current.held = held;

  const load = useCallback(
    async (isRefresh: boolean): Promise<void> => {
      const { view, query: wanted, asked, held: before } = own.current;
      if (wanted === null || own.current.isBusy) return;
      const offset = Math.floor(view.from / step) * step;
      if (!isRefresh && before.key === key && isHeld(before, view)) return;
      own.current.isBusy = true;
      try {
        const page = await ask(
          "GET /schedule-outcomes",
          { ...wanted, cursor: offset === 0 ? null : offset, limit: pageRows },
          { signal: asked.signal },
        );
        const rows = page.schedules.map((row, index) => [offset + index, row] as const);
        const kept = isRefresh ? [] : [...own.current.held.rows];
        const { total, isMore } = page;
        if (!asked.signal.aborted) setHeld({ key, rows: new Map([...kept, ...rows]), total, isMore, error: null });
      } catch (error) {
        if (!asked.signal.aborted)
          setHeld((old) => ({ ...old, error: error instanceof Error ? error : new Error(String(error)) }));
        return;
      } finally {
        if (!asked.signal.aborted) own.current.isBusy = false;
      }
      // It was scrolled on while the answer was on its way.
      if (own.current.view !== view) void load(false);
    },
    [key],
  );

  useEffect(() => {
    own.current.asked = new AbortController();
    own.current.isBusy = false;
    own.current.view = { from: 0, to: step };
    setHeld(begin(key));
    own.current.held = begin(key);
    void load(true);
    return () => own.current.asked.abort();
  }, [key]);
  useEffect(() => afterwards(slowChanges, () => void load(true)), [key]);
  const onView = useCallback(
    (from: number, to: number) => {
      own.current.view = { from, to };
      void load(false);
    },
    [key],
  );
  const current = held.key === key ? held : begin(key);
  return {
    total: query === null ? 0 : current.total,
    isMore: current.isMore,
    at: (index) => current.rows.get(index),
    loaded: [...current.rows.values()],
    error: current.error,
    onView,
    reload: () => void load(true),
  };
}

function isHeld({ rows, total }: HeldRows, { from, to }: { readonly from: number; readonly to: number }): boolean {
  for (let index = from; index < Math.min(to, total ?? to); index += 1) if (!rows.has(index)) return false;
  return true;
}
