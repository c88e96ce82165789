import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { recordLoaded } from "./loaded-files.ts";
import { spawnSync } from "node:child_process";

const place = /(?:file:\/\/)?(\/[^\s():]+\.[cm]?[jt]sx?):(\d+)/g;
const missing = /Cannot find package '([^']+)' imported from (\S+)/;
/** A file that is not there, or a path that its package does not export. */
const refused = /^(.+) imported from (\S+)$/s;

/** `file:line  problem` where a file of the project threw or could not be compiled, or which package it misses; null for anything else. */
export function thrownAt(error: unknown, root: string): string | null {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const [, wanted, importer = ""] = missing.exec(message) ?? [];
  if (wanted !== undefined)
    return `${pathIn(importer, root)}  package "${wanted}" is not installed: npm install ${wanted}`;
  const [, what = "", by = ""] = refused.exec(message) ?? [];
  if (isOfProject(by, root)) return `${pathIn(by, root)}  ${what.replaceAll(root + sep, "")}`;
  const found = [...inspect(error).matchAll(place)].find(([, file = ""]) => isOfProject(file, root));
  if (found !== undefined) return `${pathIn(found[1] ?? "", root)}:${found[2] ?? ""}  ${message}`;
  const uncompiled = error instanceof SyntaxError ? syntaxPlace(recordLoaded()()) : null;
  return uncompiled === null ? null : `${pathIn(uncompiled, root)}  ${message}`;
}

/** A path of the project counts from its root. */
const pathIn = (file: string, root: string): string => (file.startsWith(root + sep) ? relative(root, file) : file);

/** Its hooks stand in the stack of each file that cannot be compiled. */
const loader = fileURLToPath(new URL("./loaded-files.ts", import.meta.url));

const isOfProject = (file: string, root: string): boolean =>
  file.startsWith(root + sep) && !file.includes(`${sep}node_modules${sep}`) && file !== loader;

const filesMax = 500;
const checkMsMax = 10_000;

/** Compiles each file and runs none: what does not compile ends it, and Node writes `FILE:LINE` as it does for an entry. */
const compileAll = `
const { SourceTextModule } = require("node:vm");
const { stripTypeScriptTypes } = require("node:module");
const { readFileSync } = require("node:fs");
for (const file of process.argv.slice(1))
  new SourceTextModule(stripTypeScriptTypes(readFileSync(file, "utf8")), { identifier: file });`;

/**
 * V8 does not tell which module it could not compile, so the ones that were loaded are compiled again.
 * @returns `FILE:LINE`; null when all of them compile.
 */
export function syntaxPlace(loaded: readonly string[]): string | null {
  const files = loaded.filter((file) => /\.m?[jt]s$/.test(file)).slice(-filesMax);
  const args = ["--no-warnings", "--experimental-vm-modules", "-e", compileAll, "--", ...files.toReversed()];
  const { stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: checkMsMax });
  return files.map((file) => placeIn(stderr, file)).find((place) => place !== null) ?? null;
}

function placeIn(stderr: string, file: string): string | null {
  const [first = ""] = stderr.split("\n", 1);
  return first.startsWith(`${file}:`) ? first : null;
}
