import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { relative } from "node:path";
import { testsThatImport } from "../support/tests-by-server.ts";
import { type Coverage, hitsFile, keepCoverage } from "./kept.ts";
import type { Sessions } from "./sessions.ts";

const coverMsMax = 3_600_000;

/** Runs every test file once, or these, and keeps which statement and which function each reaches. */
export async function cover(
  sessions: Sessions,
  again: { readonly kept: Coverage; readonly files: readonly string[] } | null,
): Promise<{ coverage: Coverage; failed: readonly string[] }> {
  rmSync(hitsFile(), { force: true });
  const answer = await sessions.ask({ is: "coverage", files: again?.files ?? null }, coverMsMax);
  await sessions.close();
  if (answer?.is !== "covered") throw new Error("the coverage run did not end");
  const failed = new Set(answer.files.filter((file) => file.failed).map(({ file }) => file));
  const hits = again === null ? {} : without(new Set(again.files), again.kept.hits);
  for (const line of existsSync(hitsFile()) ? readFileSync(hitsFile(), "utf8").split("\n").filter(Boolean) : []) {
    const reached = JSON.parse(line) as { file: string; hits: string[] };
    const file = relative(process.cwd(), reached.file);
    // A file that fails without a mutant would find every one.
    if (failed.has(file)) continue;
    for (const hit of reached.hits) (hits[hit] ??= []).push(file);
  }
  const ms = { ...again?.kept.ms, ...Object.fromEntries(answer.files.map(({ file, ms }) => [file, ms])) };
  const coverage = { commit: commitNow(), hits, ms };
  keepCoverage(coverage);
  return { coverage, failed: [...failed] };
}

const without = (files: ReadonlySet<string>, hits: Coverage["hits"]): Record<string, string[]> =>
  Object.fromEntries(Object.entries(hits).map(([hit, reaching]) => [hit, reaching.filter((file) => !files.has(file))]));

/** Test files that are new or changed since they were measured, or import from `test` what changed. */
export function outdated({ commit }: Coverage): string[] {
  const changed = `${git("diff", "--name-only", commit, "--", "test")}${git("ls-files", "-o", "--exclude-standard", "test")}`;
  return testsThatImport(new Set(changed.split("\n").filter(Boolean)));
}

export const commitNow = (): string => git("rev-parse", "--short=8", "HEAD").trim().slice(0, 8);

export const git = (...args: string[]): string => execFileSync("git", args, { encoding: "utf8" });
