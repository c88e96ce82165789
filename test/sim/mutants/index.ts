import { claimMutants } from "./claim.ts";
import { flowMutants } from "./flow-control.ts";
import { outboxMutants } from "./outbox.ts";
import type { Mutant } from "./mutant.ts";
import { runMutants } from "./runs.ts";
import { schedulerMutants } from "./scheduler.ts";
import { settleMutants } from "./settle.ts";

export type { Mutant } from "./mutant.ts";

/** Every planted bug. Each must be found within `seedsMax` seeds, or the simulation proves too little. */
export const mutants: readonly Mutant[] = [
  ...outboxMutants,
  ...claimMutants,
  ...settleMutants,
  ...schedulerMutants,
  ...runMutants,
  ...flowMutants,
];

/** `without` is always given, so that no seed switches off another layer. @throws Error that lists the known names. */
export function mutantNamed(name: string): Required<Mutant> {
  const found = mutants.find((mutant) => mutant.name === name);
  if (found === undefined) {
    throw new Error(`unknown mutant "${name}": one of ${mutants.map((mutant) => mutant.name).join(", ")}`);
  }
  return { without: [], ...found };
}
