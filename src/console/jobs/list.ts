import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../http.ts";
import type { JobQuery } from "./filter.ts";
import type { JobListReply, JobReply } from "../../api/shape/job.ts";
import { useResource } from "../resource.ts";

export interface JobRows {
  readonly jobs: readonly JobReply[];
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
}

const firstRows = 100;
const furtherRows = 500;

/**
 * The rows that match, page after page as they are scrolled to. When something changed, the first page is read again and
 * put before what was loaded: the rows a person looks at further down do not move away. A filter of null matches nothing.
 */
export function useJobRows(key: string, filter: JobQuery | null): JobRows {
  const kept = useRef<Held>({ key, jobs: [], cursor: null });
  if (kept.current.key !== key) kept.current = { key, jobs: [], cursor: null };
  const further = useRef<AbortController | null>(null);
  const [failed, fail] = useState<Error | null>(null);
  const [, draw] = useState(0);
  const first = useResource(`jobs ${key}`, async (signal) => {
    if (filter === null) return null;
    const page = await ask("GET /jobs", { ...filter, limit: firstRows }, { signal });
    fail(null);
    kept.current = { key, ...refreshed(kept.current, page) };
    return page;
  });
  useEffect(() => () => further.current?.abort(), [key]);
  const more = (): void => {
    const { cursor } = kept.current;
    if (further.current !== null || cursor === null) return;
    const own = (further.current = new AbortController());
    ask("GET /jobs", { ...filter, cursor, limit: furtherRows }, { signal: own.signal })
      .then((page) => {
        kept.current = { key, ...appended(kept.current, page) };
        draw((count) => count + 1);
      })
      .catch((error: unknown) => own.signal.aborted || fail(error as Error))
      .finally(() => (further.current = null));
  };
  const error = first.error ?? failed;
  return { jobs: kept.current.jobs, isLoading: first.data === null, error, more, reload: first.reload };
}

type Rows = Pick<Held, "jobs" | "cursor">;

function appended({ jobs }: Held, page: JobListReply): Rows {
  const last = jobs.at(-1)?.id;
  const added = page.jobs.filter(({ id }) => last === undefined || isOlder(id, last)).map(rowOf);
  return { jobs: [...jobs, ...added], cursor: page.nextCursor };
}

/** The first page as it is now. Rows beyond it are kept when pages were loaded behind it. */
function refreshed(before: Held, page: JobListReply): Rows {
  const last = page.jobs.at(-1);
  const hasTail = before.jobs.length > page.jobs.length && last !== undefined && page.nextCursor !== null;
  const newest = page.jobs.map(rowOf);
  if (!hasTail) return { jobs: newest, cursor: page.nextCursor };
  // It begins near the top: of the many rows below nothing is looked at.
  const tail = before.jobs.findIndex(({ id }) => isOlder(id, last.id));
  return { jobs: tail < 0 ? newest : [...newest, ...before.jobs.slice(tail)], cursor: before.cursor };
}

/** A hundred thousand may be loaded: what the list does not show and may be large is not kept. */
const rowOf = (job: JobReply): JobReply => ({ ...job, payload: null, result: null });

/** Ids are numbers that may not fit a double; as text of one length they compare alike. */
const isOlder = (id: string, than: string): boolean =>
  id.length === than.length ? id < than : id.length < than.length;
