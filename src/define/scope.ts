import type { AppDefinition } from "./definition.ts";
import { type Problem, ProblemList } from "./problem.ts";

/** In `operators` and `revealers`: every caller that IAM lets in. */
export const everyCaller = "*";

/** A part of a stage: the kinds of these apps, and those of these lanes. */
export interface Scope {
  readonly apps?: readonly string[];
  readonly lanes?: readonly string[];
}

/** Who is kept to it. */
export interface CallerScope extends Scope {
  /** ARNs as of `operators`; `local` is every caller of the local system. */
  readonly callers: readonly string[];
}

/** Who may change things is written down, also where it is every caller. Left out, a deployment has no caller that may. */
export function checkOperators({
  name,
  deployed,
  operators,
}: {
  readonly name: string;
  readonly deployed: boolean;
  readonly operators?: readonly string[];
}): readonly Problem[] {
  const problems = new ProblemList(`stage "${name}"`);
  if (deployed && operators === undefined) {
    const fix = `name roles, ["arn:aws:sts::*:assumed-role/Operators/*"], or write ["${everyCaller}"] for every caller that IAM lets in`;
    problems.add("operators", operators, "must say who may change things through the API of a deployed stage", fix);
  }
  return problems.found;
}

/** A name that was mistyped would leave its callers without anything, and not say why. */
export function checkScopes(
  { name, scopes = [] }: { readonly name: string; readonly scopes?: readonly CallerScope[] },
  apps: readonly AppDefinition[],
): readonly Problem[] {
  const problems = new ProblemList(`stage "${name}"`);
  const known = {
    apps: apps.map((app) => app.name),
    lanes: ["default", ...apps.flatMap((app) => [...Object.keys(app.lanes), ...app.jobs.map(({ lane }) => lane)])],
  };
  for (const scope of scopes) {
    for (const field of ["apps", "lanes"] as const) {
      for (const each of scope[field]?.filter((one) => !known[field].includes(one)) ?? [])
        problems.add(`scopes.${field}`, each, `must be of ${[...new Set(known[field])].join(", ")}`, "");
    }
  }
  return problems.found;
}
