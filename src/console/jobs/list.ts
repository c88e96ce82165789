import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../http.ts";
import type { JobQuery } from "./filter.ts";
import { afterwards, changes } from "../live.ts";
import type { JobListReply, JobReply } from "../../api/shape/job.ts";

export interface JobRows {
  readonly jobs: readonly JobReply[];
  readonly isComplete: boolean;
  readonly isLoading: boolean;
  readonly error: Error | null;
  /** Loads the next page, unless one is on its way. */
  readonly more: () => void;
  readonly reload: () => void;
}

interface Held {
  /** Of the list that it was loaded for. */
  readonly key: string;
  readonly jobs: readonly JobReply[];
  readonly cursor: string | null;
  readonly isComplete: boolean;
  readonly isLoading: boolean;
  readonly error: Error | null;
}

const begin = (key: string): Held => {
  return { key, jobs: [], cursor: null, isComplete: false, isLoading: true, error: null };
};
const firstRows = 100;
const furtherRows = 500;

/**
 * The rows that match, page after page as they are scrolled to. When something changed, the first page is read again and
 * put before what was loaded: the rows a person looks at further down do not move away. A filter of null matches nothing.
 */
export function useJobRows(key: string, filter: JobQuery | null): JobRows {
  const [held, setHeld] = useState(() => begin(key));
  const current = useRef({ held, filter, isBusy: false, asked: new AbortController() });
  current.current.filter = filter;
  current.current.held = held;

  const load = useCallback(async (cursor: string | null) => {
    const own = current.current;
    const { asked, filter: wanted } = own;
    if (own.isBusy || wanted === null) return;
    const set = (part: (before: Held) => Partial<Held>): void => {
      if (!asked.signal.aborted) setHeld((before) => ({ ...before, ...part(before) }));
    };
    own.isBusy = true;
    set(() => ({ isLoading: true }));
    try {
      const limit = cursor === null ? firstRows : furtherRows;
      const page = await ask("GET /jobs", { ...wanted, cursor, limit }, { signal: asked.signal });
      set((before) => ({ ...(cursor === null ? refreshed(before, page) : appended(before, page)), error: null }));
    } catch (failed) {
      set(() => ({ error: failed instanceof Error ? failed : new Error(String(failed)) }));
    } finally {
      if (!asked.signal.aborted) own.isBusy = false;
      set(() => ({ isLoading: false }));
    }
  }, []);

  useEffect(() => {
    const own = current.current;
    own.asked = new AbortController();
    own.isBusy = false;
    setHeld(begin(key));
    void load(null);
    return () => own.asked.abort();
  }, [key]);

  const reload = useCallback(() => void load(null), []);
  const more = useCallback(() => {
    const { cursor, isComplete } = current.current.held;
    if (!isComplete && cursor !== null) void load(cursor);
  }, []);
  useEffect(() => afterwards(changes, reload), []);
  // The first drawing of a new filter comes before its effect: what is held then is the list before it.
  const { jobs, isComplete, isLoading, error } = held.key === key && filter !== null ? held : begin(key);
  return { jobs, isComplete, isLoading, error, more, reload };
}

type Rows = Pick<Held, "jobs" | "cursor" | "isComplete">;

function appended({ jobs }: Held, page: JobListReply): Rows {
  const last = jobs.at(-1)?.id;
  const added = page.jobs.filter(({ id }) => last === undefined || isOlder(id, last)).map(rowOf);
  return { jobs: [...jobs, ...added], cursor: page.nextCursor, isComplete: page.nextCursor === null };
}

/** The first page as it is now. Rows beyond it are kept when pages were loaded behind it. */
function refreshed(before: Held, page: JobListReply): Rows {
  const last = page.jobs.at(-1);
  const hasTail = before.jobs.length > page.jobs.length && last !== undefined && page.nextCursor !== null;
  const newest = page.jobs.map(rowOf);
  if (!hasTail) return { jobs: newest, cursor: page.nextCursor, isComplete: page.nextCursor === null };
  // It begins near the top: of the many rows below nothing is looked at.
  const tail = before.jobs.findIndex(({ id }) => isOlder(id, last.id));
  const { cursor, isComplete } = before;
  return { jobs: tail < 0 ? newest : [...newest, ...before.jobs.slice(tail)], cursor, isComplete };
}

/** A hundred thousand may be loaded: what the list does not show and may be large is not kept. */
const rowOf = (job: JobReply): JobReply => ({ ...job, payload: null, result: null });

/** Ids are numbers that may not fit a double; as text of one length they compare alike. */
const isOlder = (id: string, than: string): boolean =>
  id.length === than.length ? id < than : id.length < than.length;
