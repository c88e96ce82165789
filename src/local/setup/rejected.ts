import { inspect } from "node:util";
import { DatabaseUnavailable, DatabaseUnfit } from "../../adapters/postgres/failure.ts";
import { ProblemsFound } from "../../core/define/problem.ts";
import { thrownAt } from "../../thrown-at.ts";

/** Why the code cannot be used: all of its problems, or the place where a file of the project threw. */
export function rejection(error: unknown, root: string): string {
  if (error instanceof ProblemsFound || error instanceof DatabaseUnfit || error instanceof DatabaseUnavailable) {
    return error.message;
  }
  return thrownAt(error, root) ?? inspect(error);
}
