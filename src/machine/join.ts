/** Names of the rules that a task may be given as text. */
export const joinRules = ["all", "any", "allDone"] as const satisfies readonly JoinRule[];

/** When a task with predecessors may start. `all` is the default; `any` is `{ atLeast: 1 }`. */
export type JoinRule = "all" | "any" | "allDone" | { readonly atLeast: number };

/** The rule as a row has it: how many must have succeeded is said beside `any`. */
export function joinParts(join: JoinRule): { readonly rule: (typeof joinRules)[number]; readonly least: number } {
  return typeof join === "string" ? { rule: join, least: 1 } : { rule: "any", least: join.atLeast };
}

/**
 * What became of a task's predecessors. `bad`: FAILED, CANCELED, or SKIPPED because of such an end. A predecessor whose
 * branch was not taken leaves `open` and is neither `ok` nor `bad`, so that branches can meet again.
 */
export interface Predecessors {
  readonly open: number;
  readonly ok: number;
  readonly bad: number;
}

/** `upstream` and `not taken` are the reasons of a SKIPPED task. */
export type JoinVerdict = "wait" | "ready" | "upstream" | "not taken";

/** The one rule, as a table. `belfry.join_verdict` is its twin in SQL; a test compares them. */
export function joinVerdict(join: JoinRule, { open, ok, bad }: Predecessors): JoinVerdict {
  const { rule, least } = joinParts(join);
  if (rule === "allDone") return open > 0 ? "wait" : "ready";
  if (rule === "any") {
    if (ok >= least) return "ready";
    // Only with a bad one: else the reason would depend on which of them ends first.
    if (bad > 0 && open + ok < least) return "upstream";
    return open > 0 ? "wait" : "not taken";
  }
  if (bad > 0) return "upstream";
  if (open > 0) return "wait";
  return ok > 0 ? "ready" : "not taken";
}
