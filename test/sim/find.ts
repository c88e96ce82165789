import type { Violation } from "../invariants/evidence.ts";
import { mutants } from "./mutants/index.ts";
import type { Mutant } from "./mutants/index.ts";
import { simulate } from "./simulate.ts";

/** Seeds within which each planted bug must be found. */
export const mutantSeedsMax = 1_000;

export interface FoundViolation extends Violation {
  readonly seed: number;
}

export interface Caught {
  readonly name: string;
  readonly caughtAtSeed: number | null;
  /** The first broken invariant; null when it was not found. */
  readonly by: string | null;
}

/** Runs some seeds and gives back what they broke. */
export async function runSeeds(
  seeds: Iterable<number>,
  mutant: Mutant | null,
  progress: (done: number) => void,
): Promise<FoundViolation[]> {
  const found: FoundViolation[] = [];
  let done = 0;
  for (const seed of seeds) {
    const { violations } = await simulate(seed, mutant ?? {});
    found.push(...violations.map(({ invariant, detail }) => ({ seed, invariant, detail })));
    done += 1;
    if (done % 50 === 0) progress(done);
  }
  return found;
}

/** Runs seed after seed until one shows the planted bug. */
export async function catchMutant(name: string, from: number, seedsMax: number): Promise<Caught> {
  const mutant = mutants.find((one) => one.name === name) ?? null;
  for (let seed = from; seed < from + seedsMax; seed += 1) {
    const { violations } = await simulate(seed, mutant ?? {});
    const [first] = violations;
    if (first !== undefined) return { name, caughtAtSeed: seed, by: `${first.invariant} ${first.detail}` };
  }
  return { name, caughtAtSeed: null, by: null };
}
