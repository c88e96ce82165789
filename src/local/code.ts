/** Versions of the project's own code, as a setup process has read them: every other process runs one of these. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type LoadFnOutput, stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { inspect } from "node:util";
import { DatabaseError, DatabaseUnavailable, DatabaseUnfit } from "../postgres/failure.ts";
import { DefinitionProblems } from "../define/problem.ts";
import { thrownAt } from "../stage/thrown-at.ts";
import type { LoadedModules } from "../stage/loaded-files.ts";

export interface CodeVersion {
  /** Of its modules: a save that changes nothing makes no other. */
  readonly hash: string;
  readonly file: string;
}

const folderOf = (home: string): string => join(home, "code");

/** Writes the modules to a file of their own in the state folder, as JavaScript: no process that runs them loads a compiler. */
export function keepCode(home: string, modules: LoadedModules): CodeVersion {
  // Modules are loaded in any order, which says nothing about them.
  const compiledModules = Object.fromEntries(Object.entries(modules.modules).map(compiled));
  const text = JSON.stringify({ modules: sorted(compiledModules), imports: sorted(modules.imports) });
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  const file = join(folderOf(home), `${hash}.json`);
  mkdirSync(folderOf(home), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
  return { hash, file };
}

type Module = LoadedModules["modules"][string];

/** Lines and columns stay. What is no TypeScript fails where it is imported. */
function compiled([url, module]: [string, Module]): [string, Module] {
  const format = module.format?.replace("-typescript", "");
  if (format === module.format) return [url, module];
  try {
    return [url, { format, source: stripTypeScriptTypes(module.source) }];
  } catch {
    return [url, module];
  }
}

const strip =
  'process.stdout.write(require("node:module").stripTypeScriptTypes(require("node:fs").readFileSync(0, "utf8")))';

/** As `compiled`, in a process that ends: in one that stays, the compiler would hold 15 MB. */
export function compiledElsewhere(read: LoadFnOutput): LoadFnOutput {
  const format = read.format?.replace("-typescript", "");
  if (format === read.format || !(read.source instanceof Uint8Array)) return read;
  const child = spawnSync(process.execPath, ["--no-warnings", "-e", strip], {
    input: read.source,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
    timeout: 10_000,
  });
  return child.status === 0 ? { ...read, format, source: child.stdout } : read;
}

const sorted = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Null for a version that was dropped: a process of it may start others later, which run what the files hold. */
export const readCode = (file: string): LoadedModules | null =>
  existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as LoadedModules) : null;

/** Removes all versions but these. A process that runs has read its own. */
export function dropCode(home: string, except: readonly string[]): void {
  for (const name of readdirSync(folderOf(home))) {
    const file = join(folderOf(home), name);
    if (!except.includes(file)) rmSync(file, { force: true });
  }
}

const explained = [DefinitionProblems, DatabaseUnfit, DatabaseUnavailable, DatabaseError];

/** Why the code cannot be used: all of its problems, or the place where a file of the project threw. */
export function rejection(error: unknown, root: string): string {
  if (error instanceof Error && explained.some((kind) => error instanceof kind)) return error.message;
  return thrownAt(error, root) ?? inspect(error);
}
