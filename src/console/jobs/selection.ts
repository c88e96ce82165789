import { useState } from "preact/hooks";
import type { JobReply } from "../../api/shape/job.ts";

export interface Selection {
  /** `all`: everything that matches the filter, also what is not loaded. */
  readonly chosen: ReadonlySet<string> | "all";
  readonly has: (id: string) => boolean;
  /** With Shift: everything between this row and the last one that was clicked. */
  readonly toggle: (index: number, isRange: boolean) => void;
  readonly all: () => void;
  readonly none: () => void;
}

interface Held {
  readonly filter: string;
  readonly chosen: ReadonlySet<string> | "all";
  /** The row that was toggled last; -1 before any. */
  readonly last: number;
}

const none: ReadonlySet<string> = new Set();

/** Rows that were marked for a change of many. Forgotten when the filter changes. */
export function useSelection(jobs: readonly JobReply[], filter: string): Selection {
  const [held, setHeld] = useState<Held>({ filter, chosen: none, last: -1 });
  const toggled = ({ chosen, last }: Held, index: number, isRange: boolean): Held => {
    const job = jobs[index];
    if (job === undefined) return { filter, chosen, last };
    const next = new Set(chosen === "all" ? jobs.map(({ id }) => id) : chosen);
    const isOn = !next.has(job.id);
    const [from, to] = isRange && last >= 0 ? [Math.min(last, index), Math.max(last, index)] : [index, index];
    for (const { id } of jobs.slice(from, to + 1)) {
      if (isOn) next.add(id);
      else next.delete(id);
    }
    return { filter, chosen: next, last: index };
  };
  const chosen = held.filter === filter ? held.chosen : none;
  return {
    chosen,
    has: (id) => chosen === "all" || chosen.has(id),
    toggle(index, isRange) {
      setHeld((before) =>
        toggled(before.filter === filter ? before : { filter, chosen: none, last: -1 }, index, isRange),
      );
    },
    all: () => setHeld({ filter, chosen: "all", last: -1 }),
    none: () => setHeld({ filter, chosen: none, last: -1 }),
  };
}
