import { joinParts, type JoinRule } from "../../src/machine/join.ts";

/**
 * What became of a task's predecessors. `bad`: FAILED, CANCELED, or SKIPPED because of such an end. A predecessor whose
 * branch was not taken leaves `open` and is neither `ok` nor `bad`, so that branches can meet again.
 */
interface Predecessors {
  readonly open: number;
  readonly ok: number;
  readonly bad: number;
}

/** `upstream` and `not taken` are the reasons of a SKIPPED task. */
type JoinVerdict = "wait" | "ready" | "upstream" | "not taken";

/** The rule of `belfry.join_verdict`, which decides, as the reference store and the oracles have it; a test compares the two. */
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
