import { readFileSync } from "node:fs";
import { functionHit } from "./instrument.ts";
import type { Coverage } from "./kept.ts";
import type { Mutant } from "./mutant.ts";

/** The first waves are small: most mutants are found by the first files. */
const waveSizes = [2, 4, 8, 16];

/** Test files for a mutant, in waves: those that found others of its place first, then the quickest. */
export function wavesFor(reaching: readonly string[], mutant: Mutant, coverage: Coverage, found: Killers): string[][] {
  const cost = (file: string): number => (coverage.ms[file] ?? 60_000) / (1 + 20 * found.of(mutant, file));
  const files = reaching.toSorted((a, b) => cost(a) - cost(b));
  const waves: string[][] = [];
  for (let at = 0, wave = 0; at < files.length; wave += 1) {
    const size = waveSizes[wave] ?? 32;
    waves.push(files.slice(at, at + size));
    at += size;
  }
  return waves;
}

/** How often each test file found a mutant of a place, and of another place of its file. */
export class Killers {
  readonly #counts = new Map<string, Map<string, number>>();

  add(mutant: Mutant, by: string): void {
    const file = by.split(" > ")[0] ?? by;
    for (const group of [placeOf(mutant), mutant.file]) {
      const counts = this.#counts.get(group) ?? new Map<string, number>();
      counts.set(file, (counts.get(file) ?? 0) + 1);
      this.#counts.set(group, counts);
    }
  }

  /** One of the place counts as ten of the file. */
  of(mutant: Mutant, file: string): number {
    const count = (group: string): number => this.#counts.get(group)?.get(file) ?? 0;
    return count(placeOf(mutant)) + count(mutant.file) / 10;
  }
}

const placeOf = ({ file, place }: Mutant): string => `${file}#${place}`;

/** Of the core: files that enter the function; where coverage does not know it, those that enter any of its file. */
export function reachingCore(mutant: Mutant, { hits }: Coverage): string[] {
  const exact = hits[functionHit(mutant.file, mutant.place)];
  if (exact !== undefined) return exact;
  const start = functionHit(mutant.file, "");
  return union(Object.entries(hits).flatMap(([hit, files]) => (hit.startsWith(start) ? [files] : [])));
}

/** Of statements: files that send one whose text changes; of texts made while running, those that send one of that file. */
export function reachingSql(
  changed: readonly string[],
  mutant: Mutant,
  texts: ReadonlySet<string>,
  { hits }: Coverage,
): string[] {
  if (changed.length > 0) return union(changed.map((name) => hits[`sql:${name}`] ?? []));
  const source = readFileSync(mutant.file, "utf8");
  const starts = [...source.matchAll(/tatement(?:<[^(]*>)?\(\s*["'`]([^"'`$]+)/g)].map((match) => match[1] ?? "");
  const made = Object.entries(hits).filter(([hit]) => hit.startsWith("sql:") && !texts.has(hit.slice(4)));
  const ofFile = made.filter(([hit]) => starts.some((start) => hit.slice(4).startsWith(start)));
  return union((ofFile.length > 0 ? ofFile : made).map(([, files]) => files));
}

const union = (lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())];
