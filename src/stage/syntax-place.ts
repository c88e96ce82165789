import { spawnSync } from "node:child_process";

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
