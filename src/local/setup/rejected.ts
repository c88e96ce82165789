import { inspect } from "node:util";
import { DatabaseError, DatabaseUnavailable, DatabaseUnfit } from "../../adapters/postgres/failure.ts";
import { ProblemsFound } from "../../core/define/problem.ts";
import { pathIn, thrownAt } from "../../thrown-at.ts";
import { syntaxPlace } from "./syntax-place.ts";

const explained = [ProblemsFound, DatabaseUnfit, DatabaseUnavailable, DatabaseError];

/** Why the code cannot be used: all of its problems, or the place where one of the project's `loaded` files threw. */
export function rejection(error: unknown, root: string, loaded: readonly string[]): string {
  if (error instanceof Error && explained.some((kind) => error instanceof kind)) return error.message;
  const thrown = thrownAt(error, root);
  if (thrown !== null) return thrown;
  const place = error instanceof SyntaxError ? syntaxPlace(loaded) : null;
  return place === null ? inspect(error) : `${pathIn(place, root)}  ${String(error)}`;
}
