/** What changed modules ask while they run. One for each process. */

export interface Here {
  /** The function that has the mutant, or -1, and the mutant's key. */
  at: number;
  key: string;
  /** By number of a function, whether it was entered. */
  hits: boolean[];
  readonly caches: { clear(): void }[];
  readonly tick: () => void;
}

declare global {
  var belfrySwitch: Switches;
}

/** A function of a module, by its number there. */
export interface At {
  readonly file: string;
  readonly at: number;
}

/** For one run of a test. */
export interface Limits {
  readonly ms: number;
  readonly ticks: number;
}

export const unlimited: Limits = { ms: Infinity, ticks: Infinity };

/** How many ticks pass between two looks at the clock. */
const ticksPerLook = 1_024;

export class Switches {
  readonly #here = new Map<string, Here>();
  #ticks = 0;
  #ticksMax = Infinity;
  #endMs = Infinity;
  #ranAway = false;

  of(file: string): Here {
    const known = this.#here.get(file);
    if (known !== undefined) return known;
    const here: Here = { at: -1, key: "", hits: [], caches: [], tick: () => this.#tick() };
    this.#here.set(file, here);
    return here;
  }

  /** Switches one mutant on, or none, and forgets what was worked out and entered before. */
  begin(mutant: (At & { readonly key: string }) | null, limits: Limits): void {
    this.#ticks = 0;
    this.#ticksMax = limits.ticks;
    this.#ranAway = false;
    this.#endMs = now() + limits.ms;
    for (const [file, here] of this.#here) {
      here.at = mutant?.file === file ? mutant.at : -1;
      here.key = mutant?.file === file ? mutant.key : "";
      here.hits = [];
      for (const cache of here.caches) cache.clear();
    }
  }

  /** No limit, and no mutant, until the next one begins. */
  end(): void {
    this.#endMs = Infinity;
    this.#ticksMax = Infinity;
    for (const here of this.#here.values()) here.at = -1;
  }

  /** Calls and turns of loops since the last begin. */
  get ticks(): number {
    return this.#ticks;
  }

  /** Whether a loop had to be stopped, even where the test caught what stopped it. */
  get ranAway(): boolean {
    return this.#ranAway;
  }

  /** What was entered since the last begin. */
  entered(): At[] {
    return [...this.#here].flatMap(([file, { hits }]) => hits.flatMap((isHit, at) => (isHit ? [{ file, at }] : [])));
  }

  #tick(): void {
    this.#ticks += 1;
    if (this.#ticks % ticksPerLook !== 0 && !this.#ranAway) return;
    if (this.#ticks < this.#ticksMax && now() < this.#endMs) return;
    this.#ranAway = true;
    throw new Error("a loop does not end");
  }
}

/** The real ones, also while a test has put fake timers in their place. */
const now = performance.now.bind(performance);
export const realNow = now;
export const after = globalThis.setTimeout;
export const forget = globalThis.clearTimeout;
