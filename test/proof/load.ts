import type { System } from "./system.ts";
import { letPass } from "./until.ts";

/** A client that enqueues all the time, and keeps what was answered. Ends with the system at the latest. */
export interface Load {
  /** Keys whose enqueue was answered. */
  readonly acknowledged: ReadonlySet<string>;
  /** Calls that failed and were made again with the same keys. */
  readonly refused: number;
  stop(): Promise<void>;
}

/** What a case enqueues of a kind: payloads with their number, and what all of them have. */
export const numbered = (count: number, from = 0, more: object = {}) =>
  Array.from({ length: count }, (_, n) => ({ payload: { ...more, n: from + n } }));

const usualPageSize = 10;
const pauseMs = 100;

/**
 * A call that fails says nothing about whether it was written, so it is made again with the same keys.
 * @param pageSize jobs of one kind in a call; the calls of all kinds come ten times a second
 */
export function startLoad(system: System, kinds: readonly string[], pageSize = usualPageSize): Load {
  const acknowledged = new Set<string>();
  const over = new AbortController();
  let refused = 0;
  let n = 0;
  const untilAnswered = async (
    kind: string,
    items: readonly { key: string; payload: { n: number } }[],
  ): Promise<void> => {
    while (!over.signal.aborted) {
      try {
        await system.enqueue(kind, items);
        for (const { key } of items) acknowledged.add(key);
        return;
      } catch {
        refused += 1;
        await letPass(pauseMs);
      }
    }
  };
  const run = async (): Promise<void> => {
    while (!over.signal.aborted) {
      for (const kind of kinds) {
        const items = Array.from({ length: pageSize }, () => ({ payload: { n: ++n }, key: `${kind}-${n}` }));
        await untilAnswered(kind, items);
      }
      await letPass(pauseMs);
    }
  };
  const running = run();
  system.over.addEventListener("abort", () => over.abort(), { once: true });
  return {
    acknowledged,
    get refused() {
      return refused;
    },
    async stop() {
      over.abort();
      await running;
    },
  };
}
