import type { Mutant } from "./mutant.ts";

/** Changes that are left out, because by their kind almost none of them changes what anyone meets. Printed with each run. */
export const rules = {
  "one row less in a page of a pass, or in a bounded look":
    "A pass repeats its steps until nothing is left, and a look at the overview stops at some row and says so. Pages that a caller turns are changed.",
  "a lock clause, or SKIP LOCKED":
    "test/postgres/locks.test.ts leaves each out of its statement, and names those that it cannot see: nothing else notices one.",
} as const;
export type Rule = keyof typeof rules;

const bounded =
  /\/sql\/(health|overview|prune|prune-run|read|relay|release|requeue|rescue|resolve|rollup|waiting|wake)\.ts$/;

export function ruleFor(mutant: Mutant): Rule | null {
  if (/^drop (a lock clause|SKIP LOCKED|NOWAIT)$/.test(mutant.operator)) return "a lock clause, or SKIP LOCKED";
  const isPage = mutant.operator === "shift a bound" && /^\(\$\d+::int - 1\)$/.test(mutant.after);
  return isPage && bounded.test(mutant.file) ? "one row less in a page of a pass, or in a bounded look" : null;
}
