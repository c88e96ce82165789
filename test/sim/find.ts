import type { Violation } from "../invariants/evidence.ts";
import { simulate, type SimulateOptions } from "./simulate.ts";

/** Seeds within which each planted bug must be found: in the core, and in a statement. */
export const seedsMax = { mutant: 1_000, fault: 200 } as const;

export interface FoundViolation extends Violation {
  readonly seed: number;
}

export interface Caught {
  readonly name: string;
  readonly caughtAtSeed: number | null;
  /** The first broken invariant; null when it was not found. */
  readonly by: string | null;
}

/** Runs some seeds and gives back what they broke. `each` is how many seeds lie between two reports. */
export async function runSeeds(
  seeds: Iterable<number>,
  options: SimulateOptions,
  { each, report }: { each: number; report: (done: number) => void },
): Promise<FoundViolation[]> {
  const found: FoundViolation[] = [];
  let done = 0;
  for (const seed of seeds) {
    const { violations } = await simulate(seed, options);
    found.push(...violations.map(({ invariant, detail }) => ({ seed, invariant, detail })));
    done += 1;
    if (done % each === 0) report(done);
  }
  return found;
}

/** Runs seed after seed until one shows the planted bug. */
export async function findBug(
  name: string,
  options: SimulateOptions,
  { from, max }: { from: number; max: number },
): Promise<Caught> {
  for (let seed = from; seed < from + max; seed += 1) {
    const { violations } = await simulate(seed, options);
    const [first] = violations;
    if (first !== undefined) return { name, caughtAtSeed: seed, by: `${first.invariant} ${first.detail}` };
  }
  return { name, caughtAtSeed: null, by: null };
}
