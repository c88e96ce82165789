import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { currentTime } from "./clock.ts";
import { rangeFields, writtenEdges } from "./filter/range.ts";
import { ask, type AskValues } from "./http.ts";
import type { OperationAt, ReplyAt } from "../api/api.ts";
import { afterwards, changes, slowChanges } from "./live.ts";

export interface Resource<T> {
  /** The last answer; kept while a new one is on its way and when that one fails. */
  readonly data: T | null;
  /** Of the last attempt; null when it succeeded. */
  readonly error: Error | null;
  readonly reload: () => void;
}

interface Held<T> {
  readonly key: string;
  readonly data: T | null;
  readonly error: Error | null;
}

type Load<T> = (signal: AbortSignal) => Promise<T>;
interface Again {
  readonly again?: "live" | "slow" | "never";
}

interface Asking extends Again {
  /** Which time of its rows lies between which, as a filter writes it, and from now on at each request. */
  readonly range?: readonly [field: string, text: string];
}

/**
 * What `load` answers for `key`, asked again whenever something changed in the system. An answer that arrives after the
 * key changed is dropped; a change while an answer is on its way is asked for after it. `slow` asks again less often, `never` only on `reload`.
 */
export function useResource<T>(key: string, load: Load<T>, { again = "live" }: Again = {}): Resource<T> {
  const [held, setHeld] = useState<Held<T>>({ key, data: null, error: null });
  const loader = useRef(load);
  loader.current = load;
  const ask = useRef(() => {});

  useEffect(() => {
    const asked = new AbortController();
    ask.current = asking(async () => {
      try {
        const data = await loader.current(asked.signal);
        if (!asked.signal.aborted) setHeld({ key, data, error: null });
      } catch (error) {
        if (asked.signal.aborted) return;
        setHeld((before) => ({ key, data: before.key === key ? before.data : null, error: asError(error) }));
      }
    });
    ask.current();
    return () => asked.abort();
  }, [key]);

  useEffect(() => {
    if (again === "never") return undefined;
    return afterwards(again === "slow" ? slowChanges : changes, () => ask.current());
  }, [again]);
  const reload = useCallback(() => ask.current(), []);
  return held.key === key ? { data: held.data, error: held.error, reload } : { data: null, error: null, reload };
}

/** What the API answers to one read, kept likewise. */
export const useAnswer = <A extends OperationAt>(
  at: A,
  values: AskValues = {},
  { range = ["", ""], ...again }: Asking = {},
): Resource<ReplyAt<A>> =>
  useResource(
    `${at} ${JSON.stringify([values, range])}`,
    (signal) => ask(at, { ...values, ...rangeFields(range[0], writtenEdges(...range, currentTime())) }, { signal }),
    again,
  );

/** One request at a time; calls during it cause one more afterwards. */
function asking(work: () => Promise<void>): () => void {
  let asked = 0;
  let last = Promise.resolve();
  return () => {
    if (asked > 1) return;
    asked += 1;
    last = last.then(work).finally(() => (asked -= 1));
  };
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
