import type { Clock, Ports } from "../machine/ports.ts";

/** One worker from its start to its end. After `end` nothing of it does anything, as after kill -9. */
export interface WorkerLife {
  readonly ports: Ports;
  readonly ended: Promise<void>;
  /** Never resolves: what called it is dead. */
  end(): Promise<never>;
}

/** @param mayPass says at a crash point whether the worker lives on. */
export function newLife(ports: Ports, mayPass: (point: string) => boolean): WorkerLife {
  const over = Promise.withResolvers<void>();
  let isOver = false;
  const asleep = new AbortController();
  const timers = new Set<() => void>();
  const end = (): Promise<never> => {
    isOver = true;
    // A timer that is left keeps the process of a test from ending, until a lease is over.
    asleep.abort();
    for (const cancel of timers) cancel();
    over.resolve();
    return new Promise<never>(() => {});
  };
  const clock: Clock = {
    elapsedMs: () => ports.clock.elapsedMs(),
    sleep: async (ms, signal) => {
      await ports.clock.sleep(ms, signal === undefined ? asleep.signal : AbortSignal.any([signal, asleep.signal]));
      if (isOver) await end();
    },
    // A dead worker renews no lease and interrupts no handler.
    after(ms, run) {
      if (isOver) return () => {};
      const cancel = ports.clock.after(ms, () => {
        timers.delete(cancel);
        run();
      });
      timers.add(cancel);
      return () => {
        timers.delete(cancel);
        cancel();
      };
    },
  };
  const crashPoint = async (point: string): Promise<void> => {
    if (isOver || !mayPass(point)) await end();
  };
  return { ports: { ...ports, clock, crashPoint }, ended: over.promise, end };
}
