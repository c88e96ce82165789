import { relative, sep } from "node:path";
import { inspect } from "node:util";
import { DatabaseUnavailable, DatabaseUnfit } from "../../adapters/postgres/failure.ts";
import { ProblemsFound } from "../../core/define/problem.ts";

const place = /(?:file:\/\/)?(\/[^\s():]+\.[cm]?[jt]sx?):(\d+)/g;

/** Why the code cannot be used: all of its problems, or `file:line  problem` where a file of the project threw. */
export function rejection(error: unknown, root: string): string {
  if (error instanceof ProblemsFound || error instanceof DatabaseUnfit || error instanceof DatabaseUnavailable) {
    return error.message;
  }
  const text = inspect(error);
  const found = [...text.matchAll(place)].find(([, file = ""]) => isOfProject(file, root));
  if (found === undefined) return text;
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return `${relative(root, found[1] ?? "")}:${found[2] ?? ""}  ${message}`;
}

const isOfProject = (file: string, root: string): boolean =>
  file.startsWith(root + sep) && !file.includes(`${sep}node_modules${sep}`);
