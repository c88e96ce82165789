import type { Killers } from "../choose.ts";
import { functionHit } from "../instrument.ts";
import type { Coverage } from "../kept.ts";
import { nameOf } from "./journal.ts";
import type { At } from "./switches.ts";

/** A mutant as a test process switches it. */
export interface Try extends At {
  readonly key: string;
  /** What coverage calls its function. */
  readonly place: string;
}

interface FileOrder {
  /** By test, the mutants to try with it. */
  readonly tests: Readonly<Record<string, readonly Try[]>>;
  /** Tests that are left out; others that are not asked run once, because those after them may need what they leave. */
  readonly without: readonly string[];
}

/** What a test process is to do, by file. */
export type Order = Readonly<Record<string, FileOrder>>;

/** For each mutant, how much is asked in a round. */
export interface Round {
  /** Asks only about mutants that no test was tried with. */
  readonly untriedOnly: boolean;
  readonly testsMax: number;
  /** Of all its tests so far, as they were measured. One test is asked whatever it takes. */
  readonly msMax: number;
}

/** Longer ones run only when they are asked. */
const unaskedMsMax = 100;

interface Test {
  readonly file: string;
  readonly test: string;
  readonly ms: number;
  readonly cost: number;
}

/** Which tests each mutant was tried with, and which come next. */
export class Plan {
  readonly #coverage: Coverage;
  readonly #asked = new Map<string, { readonly names: Set<string>; ms: number }>();
  readonly #distrusted = new Set<string>();
  readonly #found: Killers;

  constructor(coverage: Coverage, found: Killers) {
    this.#coverage = coverage;
    this.#found = found;
  }

  /** Whether any test does, and be it before or after its own time. */
  isEntered({ file, place }: Try): boolean {
    return this.#coverage.hits[functionHit(file, place)] !== undefined;
  }

  /** The test fails where it should pass, and is asked no more. */
  distrust(name: string): void {
    this.#distrusted.add(name);
  }

  /** By name of a test in these files, the mutants to try with it next: those that found others of the place, then quick ones that enter little else. */
  next(
    tries: readonly Try[],
    files: ReadonlySet<string>,
    { testsMax, msMax }: Pick<Round, "testsMax" | "msMax">,
  ): Map<string, Try[]> {
    const byTest = new Map<string, Try[]>();
    const sorted = new Map<string, Test[]>();
    for (const one of tries) {
      const hit = functionHit(one.file, one.place);
      const entering = sorted.get(hit) ?? this.#entering(hit, files, one);
      sorted.set(hit, entering);
      const asked = this.#asked.get(one.key) ?? { names: new Set<string>(), ms: 0 };
      this.#asked.set(one.key, asked);
      let count = 0;
      for (const { file, test, ms } of entering) {
        const name = nameOf(file, test);
        if (asked.names.has(name) || this.#distrusted.has(name)) continue;
        if (count >= testsMax || (asked.names.size > 0 && asked.ms + ms > msMax)) break;
        asked.names.add(name);
        asked.ms += ms;
        count += 1;
        byTest.set(name, [...(byTest.get(name) ?? []), one]);
      }
    }
    return byTest;
  }

  #entering(hit: string, files: ReadonlySet<string>, one: Try): Test[] {
    const { hits, breadth } = this.#coverage;
    return Object.entries(hits[hit] ?? {})
      .flatMap(([file, tests]) => {
        // Null: something enters it between two tests, which none of them repeats.
        if (!files.has(file) || tests === null) return [];
        const ofFile = tests.map((test) => {
          const name = nameOf(file, test);
          const testMs = this.#msOf(file, test);
          const wide = (breadth[name] ?? 100) + 5;
          return { file, test, ms: testMs, cost: ((testMs + 2) * wide) / (1 + 20 * this.#found.of(one, name)) };
        });
        // Tests of one file are alike: each further one waits for those of other files.
        return ofFile.toSorted(byCost).map((one, rank) => ({ ...one, cost: one.cost * (1 + rank) }));
      })
      .toSorted(byCost);
  }

  order(byTest: ReadonlyMap<string, readonly Try[]>): Order {
    const files: Record<string, { tests: Record<string, readonly Try[]>; without: string[] }> = {};
    for (const [name, tries] of byTest) {
      const at = name.indexOf(" > ");
      const file = name.slice(0, at);
      if (tries.length > 0) (files[file] ??= { tests: {}, without: [] }).tests[name.slice(at + 3)] = tries;
    }
    for (const [file, { tests, without }] of Object.entries(files))
      for (const [test, testMs] of Object.entries(this.#coverage.ms[file]?.tests ?? {}))
        if (testMs > unaskedMsMax && tests[test] === undefined) without.push(test);
    // Quick files first: what they find is not tried by slow ones.
    const msOf = (file: string): number => {
      const asked = Object.keys(files[file]?.tests ?? {});
      return asked.reduce((sum, test) => sum + this.#msOf(file, test), 0) / asked.length;
    };
    return Object.fromEntries(Object.entries(files).toSorted(([a], [b]) => msOf(a) - msOf(b)));
  }

  #msOf(file: string, test: string): number {
    return this.#coverage.ms[file]?.tests[test] ?? 1_000;
  }
}

const byCost = (a: { readonly cost: number }, b: { readonly cost: number }): number => a.cost - b.cost;
