import type { Mutant } from "./mutant.ts";
import { child, isFunction, nameOf, type Node, walk } from "./syntax.ts";

/** Changes that are left out, because by their kind almost none of them changes what anyone meets. Printed with each run. */
export const rules = {
  "inside a call of a log or a metric":
    "What is said there decides nothing: no row, no message and no answer depends on it. The fault behind each alarm is planted in test/infra/alarms.long.test.ts.",
  "in a function whose name begins with measure":
    "It works out the figures of metrics and writes nothing else; conditions under which it is called are changed like the rest.",
  "one row less in a page of a pass, or in a bounded look":
    "A pass repeats its steps until nothing is left, and a look at the overview stops at some row and says so. Pages that a caller turns are changed.",
  "a lock clause, or SKIP LOCKED":
    "test/postgres/locks.test.ts leaves each out of its statement, and names those that it cannot see: nothing else notices one.",
} as const;
export type Rule = keyof typeof rules;

const bounded =
  /\/sql\/(health|overview|prune|prune-run|read|relay|release|requeue|rescue|resolve|rollup|waiting|wake)\.ts$/;

/** Start and end of what is left out in a file, with the rule. */
export function leftOut(source: string, program: Node): { start: number; end: number; rule: Rule }[] {
  const found: { start: number; end: number; rule: Rule }[] = [];
  walk(program, (node, around) => {
    const callee = node.type === "CallExpression" ? child(node, "callee") : null;
    if (
      callee !== null &&
      /\b(log\.(debug|info|warn|error)|metrics\.add)$/.test(source.slice(callee.start, callee.end))
    )
      found.push({ start: node.start, end: node.end, rule: "inside a call of a log or a metric" });
    if (isFunction(node) && /^measure[A-Z]?/.test(nameOf(node, around)))
      found.push({ start: node.start, end: node.end, rule: "in a function whose name begins with measure" });
    return true;
  });
  return found;
}

export function ruleFor(mutant: Mutant, ranges: ReturnType<typeof leftOut>): Rule | null {
  const inside = ranges.find(({ start, end }) => start <= mutant.start && mutant.end <= end);
  if (inside !== undefined) return inside.rule;
  if (/^drop (a lock clause|SKIP LOCKED|NOWAIT)$/.test(mutant.operator)) return "a lock clause, or SKIP LOCKED";
  const isPage = mutant.operator === "shift a bound" && /^\(\$\d+::int - 1\)$/.test(mutant.after);
  return isPage && bounded.test(mutant.file) ? "one row less in a page of a pass, or in a bounded look" : null;
}
