import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type JobQuery, loadJobs } from "../client.ts";
import { changes } from "../live.ts";
import type { ShownJob } from "../shape.ts";

/** What the list shows of a job. A hundred thousand may be loaded: payloads, results and traces are not kept. */
export type ListedJob = Pick<
  ShownJob,
  | "id"
  | "kind"
  | "key"
  | "run"
  | "task"
  | "state"
  | "phase"
  | "lane"
  | "attempt"
  | "failures"
  | "maxAttempts"
  | "dueAt"
  | "startedAt"
  | "finishedAt"
  | "error"
>;

export interface JobRows {
  readonly jobs: readonly ListedJob[];
  readonly isComplete: boolean;
  readonly isLoading: boolean;
  readonly error: Error | null;
  /** Loads the next page, unless one is on its way. */
  readonly more: () => void;
  readonly reload: () => void;
}

interface Held {
  readonly jobs: readonly ListedJob[];
  readonly cursor: string | null;
  readonly isComplete: boolean;
}

const emptyList: Held = { jobs: [], cursor: null, isComplete: false };
const firstRows = 100;
const furtherRows = 500;

/**
 * The rows that match, page after page as they are scrolled to. When something changed, the first page is read again and
 * put before what was loaded: the rows a person looks at further down do not move away. A filter of null matches nothing.
 */
export function useJobRows(key: string, filter: JobQuery | null): JobRows {
  const [held, setHeld] = useState<Held>(emptyList);
  const [error, setError] = useState<Error | null>(null);
  const [isLoading, setLoading] = useState(true);
  const current = useRef({ held, filter, isBusy: false, asked: new AbortController() });
  current.current.filter = filter;
  current.current.held = held;

  const load = useCallback(async (cursor: string | null) => {
    const own = current.current;
    const { asked, filter: wanted } = own;
    if (own.isBusy || wanted === null) {
      if (wanted === null) setLoading(false);
      return;
    }
    own.isBusy = true;
    setLoading(true);
    try {
      const page = await loadJobs(wanted, { cursor, limit: cursor === null ? firstRows : furtherRows }, asked.signal);
      if (asked.signal.aborted) return;
      setHeld((before) => (cursor === null ? refreshed(before, page) : appended(before, page)));
      setError(null);
    } catch (failed) {
      if (!asked.signal.aborted) setError(failed instanceof Error ? failed : new Error(String(failed)));
    } finally {
      if (!asked.signal.aborted) {
        own.isBusy = false;
        setLoading(false);
      }
    }
  }, []);

  useEffect(() => {
    const own = current.current;
    own.asked = new AbortController();
    own.isBusy = false;
    setHeld(emptyList);
    setError(null);
    void load(null);
    return () => own.asked.abort();
  }, [key]);

  const reload = useCallback(() => void load(null), []);
  const more = useCallback(() => {
    const { cursor, isComplete } = current.current.held;
    if (!isComplete && cursor !== null) void load(cursor);
  }, []);
  useChanges(reload);
  return { jobs: held.jobs, isComplete: held.isComplete, isLoading, error, more, reload };
}

function useChanges(tell: () => void): void {
  useEffect(() => {
    let isFirst = true;
    return changes.subscribe(() => {
      if (!isFirst) tell();
      isFirst = false;
    });
  }, []);
}

type Page = Awaited<ReturnType<typeof loadJobs>>;

function appended({ jobs }: Held, page: Page): Held {
  const last = jobs.at(-1)?.id;
  const added = page.jobs.filter(({ id }) => last === undefined || isOlder(id, last)).map(rowOf);
  return { jobs: [...jobs, ...added], cursor: page.nextCursor, isComplete: page.nextCursor === null };
}

/** The first page as it is now. Rows beyond it are kept when pages were loaded behind it. */
function refreshed(before: Held, page: Page): Held {
  const last = page.jobs.at(-1);
  const hasTail = before.jobs.length > page.jobs.length && last !== undefined && page.nextCursor !== null;
  const newest = page.jobs.map(rowOf);
  if (!hasTail) return { jobs: newest, cursor: page.nextCursor, isComplete: page.nextCursor === null };
  // It begins near the top: of the many rows below nothing is looked at.
  const tail = before.jobs.findIndex(({ id }) => isOlder(id, last.id));
  return { ...before, jobs: tail < 0 ? newest : [...newest, ...before.jobs.slice(tail)] };
}

function rowOf(job: ShownJob): ListedJob {
  const { id, kind, key, run, task, state, phase, lane } = job;
  const { attempt, failures, maxAttempts, dueAt, startedAt, finishedAt, error } = job;
  const named = { id, kind, key, run, task, state, phase, lane };
  return { ...named, attempt, failures, maxAttempts, dueAt, startedAt, finishedAt, error };
}

/** Ids are numbers that may not fit a double; as text of one length they compare alike. */
const isOlder = (id: string, than: string): boolean =>
  id.length === than.length ? id < than : id.length < than.length;
