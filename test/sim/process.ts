import type { Clock } from "../../src/machine/ports.ts";
import { clockOf, type VirtualTime } from "../support/virtual-clock.ts";

/**
 * One operating-system process: code that waits only through it stops for good when it is killed, and stands still
 * while it is stopped. What reaches a stopped process waits in `#backlog`, as bytes wait in a socket.
 */
export class SimProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly #died = new AbortController();
  readonly #time: VirtualTime;
  readonly #onKill: (process: SimProcess, why: string) => void;
  #isAlive = true;
  #isStopped = false;
  #backlog: (() => void)[] = [];

  constructor(
    name: string,
    time: VirtualTime,
    options: { clockOffsetMs: number; onKill: (process: SimProcess, why: string) => void },
  ) {
    this.name = name;
    this.#time = time;
    this.#onKill = options.onKill;
    this.clock = clockOf({
      elapsedMs: () => time.nowMs + options.clockOffsetMs,
      after: (ms, run) => time.after(ms, () => this.deliver(run)),
      gone: this.#died.signal,
    });
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Aborted by its death: its connections close. */
  get died(): AbortSignal {
    return this.#died.signal;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Runs something inside the process: now, when it goes on, or never. */
  deliver(run: () => void): void {
    if (!this.#isAlive) return;
    if (this.#isStopped) this.#backlog.push(run);
    else run();
  }

  /** kill -9. */
  kill(why: string): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#backlog = [];
    this.#died.abort();
    this.#onKill(this, why);
  }

  /** SIGSTOP, and SIGCONT after `ms`. */
  stop(ms: number): void {
    if (!this.#isAlive || this.#isStopped) return;
    this.#isStopped = true;
    this.#time.after(ms, () => {
      this.#isStopped = false;
      const waiting = this.#backlog;
      this.#backlog = [];
      for (const run of waiting) this.deliver(run);
    });
  }
}

/** A promise that never resolves: the code behind it belongs to a dead process. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {});
