import { readFileSync } from "node:fs";
import type { Coverage } from "./kept.ts";
import type { Mutant } from "./mutant.ts";

const watched = /^test\/postgres\/(effects\/|locks\.)/;

/** Tests of one file; null is all of them. */
export interface Chosen {
  readonly file: string;
  readonly tests: readonly string[] | null;
}

/** By test file, the tests of it that reach a place. */
export type Reaching = Readonly<Record<string, readonly string[] | null>>;

/** What the tests of the first wave took when they were measured: most mutants are found by them. A wave is a new process. */
const waveMsMax = [1_000];

export interface Asking {
  readonly coverage: Pick<Coverage, "ms" | "breadth">;
  readonly found: Killers;
  /** The watcher has had its turn: its own tests would only take the time of others. */
  readonly isWatched: boolean;
  /** Beyond it no further test is asked, and the mutant has survived. */
  readonly testMsMax: number;
}

/**
 * Tests for a mutant, in waves: first those that found others of its place, then the quick ones that reach little else. A
 * place that every test reaches is judged by those alone: a mutant that only the rest would find counts as a hole.
 */
export function wavesFor(
  reaching: Reaching,
  mutant: Mutant,
  { coverage, found, isWatched, testMsMax }: Asking,
): Chosen[][] {
  const { ms, breadth } = coverage;
  const asked = Object.entries(reaching).flatMap(([file, tests]) => {
    const of = ms[file] ?? { file: 60_000, tests: {} };
    const all = Object.values(of.tests).reduce((sum, testMs) => sum + testMs, 0);
    const setUpMs = Math.max(0, of.file - all);
    if (isWatched && file.includes("/effects/")) return [];
    // Minutes long, and blind to all but locks.
    if (file.endsWith("/locks.test.ts") && !/lock/i.test(mutant.operator)) return [];
    return (tests ?? Object.keys(of.tests)).map((test) => {
      const testMs = (of.tests[test] ?? 1_000) + setUpMs / 4;
      const name = `${file} > ${test}`;
      // What reaches everything looks at little of it, but for those that watch every statement.
      const wide = watched.test(file) ? 0.3 : (breadth[name] ?? 100);
      const cost = ((testMs + 50) * wide) / (1 + 20 * found.of(mutant, name));
      return { file, test, testMs, cost };
    });
  });
  const waves: (typeof asked)[] = [];
  let spentMs = 0;
  let leftMs = testMsMax;
  for (const one of asked.toSorted((a, b) => a.cost - b.cost)) {
    if (leftMs <= 0) break;
    leftMs -= one.testMs;
    if (waves.length === 0 || spentMs > (waveMsMax[waves.length - 1] ?? Infinity)) {
      waves.push([]);
      spentMs = 0;
    }
    waves.at(-1)?.push(one);
    spentMs += one.testMs;
  }
  return waves.map((wave) =>
    [...Map.groupBy(wave, ({ file }) => file)].map(([file, tests]) => ({ file, tests: tests.map(({ test }) => test) })),
  );
}

type Placed = Pick<Mutant, "file" | "place">;

/** How often each test found a mutant of a place, and of another place of its file. */
export class Killers {
  readonly #counts = new Map<string, Map<string, number>>();

  add(mutant: Placed, by: string): void {
    for (const group of [placeOf(mutant), mutant.file]) {
      const counts = this.#counts.get(group) ?? new Map<string, number>();
      counts.set(by, (counts.get(by) ?? 0) + 1);
      this.#counts.set(group, counts);
    }
  }

  /** One of the place counts as ten of the file. */
  of(mutant: Placed, by: string): number {
    const count = (group: string): number => this.#counts.get(group)?.get(by) ?? 0;
    return count(placeOf(mutant)) + count(mutant.file) / 10;
  }
}

const placeOf = ({ file, place }: Placed): string => `${file}#${place}`;

/** Of statements: tests that send one whose text changes; of texts made while running, those that send one of that file. */
export function reachingSql(
  changed: readonly string[],
  mutant: Mutant,
  texts: ReadonlySet<string>,
  { hits }: Coverage,
): Reaching {
  if (changed.length > 0) return union(changed.map((name) => hits[`sql:${name}`] ?? {}));
  const source = readFileSync(mutant.file, "utf8");
  const starts = [...source.matchAll(/tatement(?:<[^(]*>)?\(\s*["'`]([^"'`$]+)/g)].map((match) => match[1] ?? "");
  const made = Object.entries(hits).filter(([hit]) => hit.startsWith("sql:") && !texts.has(hit.slice(4)));
  const ofFile = made.filter(([hit]) => starts.some((start) => hit.slice(4).startsWith(start)));
  return union((ofFile.length > 0 ? ofFile : made).map(([, reaching]) => reaching));
}

function union(all: readonly Reaching[]): Reaching {
  const joined: Record<string, readonly string[] | null> = {};
  for (const [file, tests] of all.flatMap((reaching) => Object.entries(reaching))) {
    const before = joined[file];
    joined[file] = tests === null || before === null ? null : [...new Set([...(before ?? []), ...tests])];
  }
  return joined;
}
