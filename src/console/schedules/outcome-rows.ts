import { useRef, useState } from "preact/hooks";
import { ask } from "../http.ts";
import type { OutcomeQuery } from "./schedule-filter.ts";
import type { ScheduleOutcomeReply } from "../../api/shape/schedule-outcome.ts";
import { useResource } from "../resource.ts";

/** As many as one answer holds. */
const pageRows = 100;
const step = 50;

export interface OutcomeRows {
  /** How many match; null until the first answer. */
  readonly total: number | null;
  /** More may match: not every failure was looked at. */
  readonly isMore: boolean;
  /** Undefined while it is not loaded. */
  readonly at: (index: number) => ScheduleOutcomeReply | undefined;
  readonly loaded: readonly ScheduleOutcomeReply[];
  readonly error: Error | null;
  readonly onView: (from: number) => void;
  readonly reload: () => void;
}

interface Kept {
  readonly key: string;
  /** Where the window begins that was asked for last. */
  readonly from: number;
  readonly rows: ReadonlyMap<number, ScheduleOutcomeReply>;
  readonly total: number | null;
  readonly isMore: boolean;
}

/** The schedules in view, and no others: one request brings a window, which is asked for again when something changed. */
export function useOutcomeRows(key: string, query: OutcomeQuery | null): OutcomeRows {
  const [view, setView] = useState({ key, from: 0 });
  const from = view.key === key ? view.from : 0;
  const kept = useRef<Kept>({ key: "", from, rows: new Map(), total: null, isMore: false });
  const load = async (signal: AbortSignal): Promise<void> => {
    if (query === null) return;
    const asked = { ...query, cursor: from === 0 ? null : from, limit: pageRows };
    const { schedules, total, isMore } = await ask("GET /schedule-outcomes", asked, { signal });
    const rows = schedules.map((row, index) => [from + index, row] as const);
    // What was scrolled past stays until it is asked for again: it is not empty on the way back.
    const before = kept.current.key === key && kept.current.from !== from ? kept.current.rows : [];
    kept.current = { key, from, rows: new Map([...before, ...rows]), total, isMore };
  };
  const { error, reload } = useResource(`schedules ${key} ${from}`, load, { again: "slow" });
  const { rows, total, isMore } =
    kept.current.key === key ? kept.current : { rows: new Map(), total: null, isMore: false };
  return {
    total: query === null ? 0 : total,
    isMore,
    at: (index) => rows.get(index),
    loaded: [...rows.values()],
    error,
    onView: (first) => setView({ key, from: Math.floor(first / step) * step }),
    reload,
  };
}
