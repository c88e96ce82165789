import type { Mutant } from "./mutant.ts";

/** What the test run's plugin does. Kept with the process: vite loads its configuration as modules of its own. */
export type Planted = Mutant | "coverage" | null;

const holder = globalThis as { belfryPlanted?: Planted };

export const planted = (): Planted => holder.belfryPlanted ?? null;

export function plant(next: Planted): void {
  holder.belfryPlanted = next;
}
