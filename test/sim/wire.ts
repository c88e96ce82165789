import { UnknownOutcome } from "../../src/machine/transaction.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { VirtualTime } from "../support/virtual-clock.ts";
import type { SimProcess } from "./process.ts";

/** How often each fault happens while faults are on: the probability for one call. */
export interface FaultRates {
  /** The call fails before the server did anything. */
  readonly refused: number;
  /** The server did it and the answer is lost. */
  readonly answerLost: number;
  /** The call takes seconds. */
  readonly slow: number;
  /** kill -9 at a port call or crash point. */
  readonly kill: number;
  /** SIGSTOP at a port call or crash point, for up to three leases. */
  readonly stop: number;
}

export const noFaults: FaultRates = { refused: 0, answerLost: 0, slow: 0, kill: 0, stop: 0 };

/** Everything between a process and a server: time passes, answers get lost, and the process may die on the way. */
export class Wire {
  readonly #time: VirtualTime;
  readonly #random: SeededRandom;
  readonly #trace: ((line: string) => void) | null;
  rates: FaultRates = noFaults;
  /** Servers that refuse every call until an instant, by the first word of their calls: `store`, `queue`, `locks`. */
  readonly outages = new Map<string, number>();
  /** Sees the start of every call: what must happen just then begins here. */
  watch: ((name: string) => void) | null = null;
  /** How many faults hit calls of each process. */
  readonly troubles = new Map<string, number>();

  constructor(time: VirtualTime, random: SeededRandom, trace: ((line: string) => void) | null) {
    this.#time = time;
    this.#random = random;
    this.#trace = trace;
  }

  /** Time on the way; nothing of the process is needed for it to pass. */
  leg(): Promise<void> {
    const slowly = this.#random.chance(this.rates.slow);
    const ms = slowly ? this.#random.between(500, 12_000) : this.#random.between(1, 8);
    return new Promise((resolve) => this.#time.after(ms, resolve));
  }

  /** One call of a process to a server. `serve` runs at the server, also when the caller is gone. */
  async call<T>(process: SimProcess, name: string, serve: () => Promise<T>): Promise<T> {
    await this.mayCrash(process, name);
    this.watch?.(name);
    const fate = this.#isOut(name) ? "refused" : this.#fate();
    if (fate !== "answered") this.trouble(process);
    await this.leg();
    if (fate === "refused") return this.#answer(process, name, { error: new Error(`${name}: connection refused`) });
    let outcome: { value: T } | { error: unknown };
    try {
      outcome = { value: await serve() };
    } catch (error) {
      outcome = { error };
    }
    if (fate === "answerLost") outcome = { error: new UnknownOutcome(`${name}: the answer was lost`) };
    return this.#answer(process, name, outcome);
  }

  /** A place where the process may be killed or stopped. */
  async mayCrash(process: SimProcess, name: string): Promise<void> {
    if (this.#random.chance(this.rates.kill)) {
      this.trouble(process);
      process.kill(name);
    } else if (this.#random.chance(this.rates.stop)) {
      this.trouble(process);
      const ms = this.#random.between(100, 9_000);
      this.#trace?.(`${process.name} stopped for ${ms} ms at ${name}`);
      process.stop(ms);
    }
    if (!process.isAlive || process.isStopped) await this.#delivered(process);
  }

  async #answer<T>(process: SimProcess, name: string, outcome: { value: T } | { error: unknown }): Promise<T> {
    await this.leg();
    await this.mayCrash(process, `${name} answered`);
    await this.#delivered(process);
    if ("error" in outcome) {
      this.#trace?.(`${process.name} ${name} failed: ${String(outcome.error)}`);
      throw outcome.error;
    }
    this.#trace?.(`${process.name} ${name} -> ${brief(outcome.value)}`);
    return outcome.value;
  }

  #delivered(process: SimProcess): Promise<void> {
    return new Promise((resolve) => process.deliver(resolve));
  }

  #isOut(name: string): boolean {
    return this.#time.nowMs < (this.outages.get(name.slice(0, name.indexOf("."))) ?? 0);
  }

  #fate(): "refused" | "answerLost" | "answered" {
    if (this.#random.chance(this.rates.refused)) return "refused";
    return this.#random.chance(this.rates.answerLost) ? "answerLost" : "answered";
  }

  /** A fault hit this process: what it gives back now is not given back in order to wait. */
  trouble(process: SimProcess): void {
    this.troubles.set(process.name, (this.troubles.get(process.name) ?? 0) + 1);
  }
}

const brief = (value: unknown): string => (JSON.stringify(value) ?? "").slice(0, 160);
