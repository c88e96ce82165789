/** What the gate asks about statements that do not end. */
export interface LockWatch {
  /** Which of so many statements starts next; the one that was asked for first, unless given. */
  readonly choose?: (count: number) => number;
  /** Of these backends, those that wait for a lock and are in no deadlock. */
  waiting(pids: readonly number[]): Promise<ReadonlySet<number>>;
}

interface Call {
  /** The backend that runs it; null where no lock can be in its way. */
  readonly pid: number | null;
  readonly start: () => Promise<void>;
  ended: Promise<void> | null;
  /** Gives its caller the answer. Set once it has ended. */
  deliver: (() => void) | null;
}

/**
 * Real statements under virtual time: one after the other in the order they were asked for, their answers given one at a
 * time. A statement that waits for a lock lets the next one start, and time may go on beside it. So a seed replays its run.
 */
export class Gate {
  readonly #calls: Call[] = [];
  #refused: Error | null = null;
  readonly #watch: LockWatch;

  constructor(watch: LockWatch) {
    this.#watch = watch;
  }

  /** Ends the run: what happens after a text that Postgres cannot read says nothing. */
  refuse(error: Error): void {
    this.#refused ??= error;
  }

  perform<T>(pid: number | null, io: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const call: Call = {
        pid,
        start: () =>
          io().then(
            (value) => void (call.deliver = () => resolve(value)),
            (error: unknown) => void (call.deliver = () => reject(error)),
          ),
        ended: null,
        deliver: null,
      };
      this.#calls.push(call);
    });
  }

  /**
   * Resolves when each call was answered or waits for a lock that only time can free.
   * @throws Error of a text that Postgres could not read.
   */
  async settled(): Promise<void> {
    for (;;) {
      if (this.#refused !== null) throw this.#refused;
      await new Promise((resolve) => setImmediate(resolve));
      const answered = this.#calls.findIndex((call) => call.deliver !== null);
      if (answered >= 0) {
        this.#calls.splice(answered, 1)[0]?.deliver?.();
        continue;
      }
      const waiting = this.#calls.filter((call) => call.ended === null);
      const next = waiting[this.#watch.choose?.(waiting.length) ?? 0];
      if (next === undefined) return;
      next.ended = next.start();
      await this.#rest();
    }
  }

  /** Until each statement that was sent has ended or waits for a lock. */
  async #rest(): Promise<void> {
    for (;;) {
      const sent = this.#calls.filter((call) => call.ended !== null && call.deliver === null);
      if (sent.length === 0) return;
      const timer = Promise.withResolvers<void>();
      const timeout = setTimeout(timer.resolve, lookMs);
      await Promise.race([timer.promise, ...sent.map((call) => call.ended)]);
      clearTimeout(timeout);
      const open = sent.filter((call) => call.deliver === null);
      if (open.length === 0) return;
      const waiting = await this.#watch.waiting(open.flatMap((call) => call.pid ?? []));
      if (open.every((call) => call.deliver !== null || (call.pid !== null && waiting.has(call.pid)))) return;
    }
  }
}

const lookMs = 4;
