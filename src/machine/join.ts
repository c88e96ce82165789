/** Names of the rules that a task may be given as text. */
export const joinRules = ["all", "any", "allDone"] as const satisfies readonly JoinRule[];

/** When a task with predecessors may start. `all` is the default; `any` is `{ atLeast: 1 }`. */
export type JoinRule = "all" | "any" | "allDone" | { readonly atLeast: number };

/** The rule as a row has it: how many must have succeeded is said beside `any`. */
export function joinParts(join: JoinRule): { readonly rule: (typeof joinRules)[number]; readonly least: number } {
  return typeof join === "string" ? { rule: join, least: 1 } : { rule: "any", least: join.atLeast };
}
