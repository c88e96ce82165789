import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant } from "../mutant.ts";
import type { Try } from "./plan.ts";
import { switched } from "./transform.ts";

/** Writes the changed modules, once for all test processes. */
export function writeModules(folder: string, mutants: readonly Mutant[]): { tries: Try[]; fixed: ReadonlySet<string> } {
  const tries: Try[] = [];
  const fixed = new Set<string>();
  mkdirSync(folder, { recursive: true });
  for (const [file, inside] of Map.groupBy(mutants, (mutant) => mutant.file)) {
    const module = switched(file, readFileSync(file, "utf8"), inside);
    writeFileSync(pathOf(folder, file), module.code);
    for (const key of module.fixed) fixed.add(key);
    const places = new Map(inside.map(({ key, place }) => [key, place]));
    for (const [at, keys] of module.functions.entries())
      tries.push(...keys.map((key) => ({ file, at, key, place: places.get(key) ?? "" })));
  }
  return { tries, fixed };
}

/** Where the changed module of a source file is, if it has one. */
export function codeOf(folder: string, file: string): string | null {
  const path = pathOf(folder, file);
  return existsSync(path) ? path : null;
}

const pathOf = (folder: string, file: string): string => join(folder, file.replaceAll("/", "+"));
