/** When a task with predecessors may start. `all` is the default. */
export const joinRules = ["all", "any", "allDone"] as const satisfies readonly JoinRule[];
export type JoinRule = "all" | "any" | "allDone";

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
export function joinVerdict(rule: JoinRule, { open, ok, bad }: Predecessors): JoinVerdict {
  if (rule === "allDone") return open > 0 ? "wait" : "ready";
  if (rule === "any") {
    if (ok > 0) return "ready";
    if (open > 0) return "wait";
    return bad > 0 ? "upstream" : "not taken";
  }
  if (bad > 0) return "upstream";
  if (open > 0) return "wait";
  return ok > 0 ? "ready" : "not taken";
}
