import type { Message } from "../../src/machine/outbox.ts";
import type { Queue } from "../../src/machine/ports.ts";

/** A queue in this process: what is put in goes to whichever loop asks first, at most `size` at a time. */
export interface InProcessQueue<T> {
  put(items: readonly T[]): void;
  /** Loops that share the queue until `close`, which resolves when what they have in hand is done. */
  work(loops: number, size: number, handle: (page: readonly T[], loop: number) => Promise<void>): void;
  close(): Promise<void>;
  forget(): void;
}

export function inProcessQueue<T>(): InProcessQueue<T> {
  let waiting: T[] = [];
  const state = { isOpen: false };
  let working: Promise<unknown> = Promise.resolve();
  let wakes: (() => void)[] = [];
  const ring = (): void => {
    for (const wake of wakes.splice(0)) wake();
  };
  const take = async (size: number): Promise<readonly T[]> => {
    while (state.isOpen && waiting.length === 0) await new Promise<void>((resolve) => void wakes.push(resolve));
    return state.isOpen ? waiting.splice(0, size) : [];
  };
  return {
    put(items) {
      waiting.push(...items);
      ring();
    },
    work(loops, size, handle) {
      state.isOpen = true;
      const loop = async (_: unknown, number: number): Promise<void> => {
        for (let page = await take(size); page.length > 0; page = await take(size)) await handle(page, number);
      };
      working = Promise.all(Array.from({ length: loops }, loop));
    },
    async close() {
      state.isOpen = false;
      ring();
      await working;
    },
    forget() {
      waiting = [];
      wakes = [];
    },
  };
}

/** In the place of SQS: what is sent waits in this process. */
export const sendingTo = (waiting: InProcessQueue<Message>): Queue => ({
  async send(_lane, messages) {
    waiting.put(messages);
    return { failed: [] };
  },
  depth: async () => ({ visible: 0, inFlight: 0, delayed: 0 }),
});
