import { inspect } from "node:util";
import { DatabaseError, DatabaseUnavailable, DatabaseUnfit } from "../../adapters/postgres/failure.ts";
import { ProblemsFound } from "../../core/define/problem.ts";
import { thrownAt } from "../../thrown-at.ts";

const explained = [ProblemsFound, DatabaseUnfit, DatabaseUnavailable, DatabaseError];

/** Why the code cannot be used: all of its problems, or the place where a file of the project threw. */
export function rejection(error: unknown, root: string): string {
  if (error instanceof Error && explained.some((kind) => error instanceof kind)) return error.message;
  return thrownAt(error, root) ?? inspect(error);
}
