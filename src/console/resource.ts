import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { changes } from "./live.ts";

export interface Resource<T> {
  /** The last answer; kept while a new one is on its way and when that one fails. */
  readonly data: T | null;
  /** Of the last try; null when it succeeded. */
  readonly error: Error | null;
  readonly reload: () => void;
}

interface Held<T> {
  readonly key: string;
  readonly data: T | null;
  readonly error: Error | null;
}

/**
 * What `load` answers for `key`, asked again whenever something changed in the system. An answer that arrives after the
 * key changed is dropped. `live: false` asks once.
 */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  { live = true }: { readonly live?: boolean } = {},
): Resource<T> {
  const [held, setHeld] = useState<Held<T>>({ key, data: null, error: null });
  const [again, setAgain] = useState(0);
  const loader = useRef(load);
  loader.current = load;
  const change = live ? changes.value : 0;

  useEffect(() => {
    const asked = new AbortController();
    loader.current(asked.signal).then(
      (data) => asked.signal.aborted || setHeld({ key, data, error: null }),
      (error: unknown) => {
        if (asked.signal.aborted) return;
        setHeld((before) => ({ key, data: before.key === key ? before.data : null, error: asError(error) }));
      },
    );
    return () => asked.abort();
  }, [key, again, change]);

  const reload = useCallback(() => setAgain((before) => before + 1), []);
  return held.key === key ? { data: held.data, error: held.error, reload } : { data: null, error: null, reload };
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
