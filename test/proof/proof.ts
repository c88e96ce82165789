import { seededRandom } from "../support/seeded-random.ts";

/** What a proof is given. Everything it starts lies in `folder` and ends with it. */
export interface ProofContext {
  /** This round, from 0. */
  readonly round: number;
  /** Replays the random choices of the harness; processes and networks have chance of their own. */
  readonly seed: number;
  /** Seconds of the system per second of the machine, for the cases that wait; null is the case's own. */
  readonly scale: number | null;
  /** Multiplies the amount of work: 0.1 is a quick look. */
  readonly size: number;
  /** How long a case under load goes on, in place of its size. */
  readonly minutes: number | null;
  /** Real leases and timeouts instead of short ones. */
  readonly defaults: boolean;
  /** The guard to take away, to see the case fail. */
  readonly without: string | null;
  /** A folder of input, for the cases that read one. */
  readonly dir: string | null;
  readonly folder: string;
  readonly postgresUrl: string;
  log(text: string): void;
}

export interface Verdict {
  readonly pass: boolean;
  readonly detail: string;
  /** It could not run here, and says why. */
  readonly isSkipped?: boolean;
}

export interface Proof {
  readonly name: string;
  /** One line for `--help`. */
  readonly about: string;
  /** Guards that `--without` can take away. */
  readonly guards?: readonly string[];
  /** After which it does not hold, at a size of at most 1; 10 when left out. A larger size has as many times more. */
  readonly minutesMax?: number;
  /** Its load goes on beside as many faults as it is asked for, so it may take hours; the others are repeated instead. */
  readonly isUnderLoad?: boolean;
  /** What it puts into the list is its verdict, unless it answers one. The systems that it leaves are stopped. */
  run(context: ProofContext, list: Checklist): Promise<Verdict | void>;
}

/** Gathers what was expected and what was measured; the detail names everything that did not hold. */
export class Checklist {
  readonly #broken: string[] = [];
  readonly #figures: string[] = [];
  #held = 0;

  expect(what: string, holds: boolean, seen?: string | number): void {
    if (holds) this.#held += 1;
    else this.#broken.push(seen === undefined ? what : `${what} (${seen})`);
  }

  expectIs<T extends string | number | null | undefined>(what: string, seen: T, wanted: NoInfer<T>): void {
    this.expect(what, seen === wanted, `${seen}, not ${wanted}`);
  }

  expectAtMost(what: string, seen: number, most: number, unit = ""): void {
    this.expect(what, seen <= most, `${Math.round(seen)}${unit}`);
  }

  /** A list that must be empty; the first few are shown, by the name of each. */
  expectNone(what: string, found: readonly string[]): void;
  expectNone<T>(what: string, found: readonly T[], nameOf: (each: T) => string): void;
  expectNone<T>(what: string, found: readonly T[], nameOf: (each: T) => string = String): void {
    this.expect(what, found.length === 0, `${found.length}: ${found.slice(0, 3).map(nameOf).join("; ")}`);
  }

  figure(text: string): void {
    this.#figures.push(text);
  }

  verdict(): Verdict {
    const pass = this.#broken.length === 0 && this.#held > 0;
    const broken = this.#broken.map((what) => `NOT ${what}`);
    return { pass, detail: [...broken, `${this.#held} checks held`, ...this.#figures].join(" · ") };
  }
}

/** Numbers in [0, 1) from a seed. */
export const seeded = (seed: number): (() => number) => seededRandom(seed).next;
