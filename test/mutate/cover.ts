import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { relative } from "node:path";
import { testsThatImport } from "../support/tests-by-server.ts";
import { type Coverage, hitsFile, keepCoverage } from "./kept.ts";
import type { Sessions } from "./sessions.ts";

const coverMsMax = 3_600_000;

/** Runs every test file once, or these, and keeps which statements each sends. */
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
    const reached = JSON.parse(line) as { file: string; outside: string[]; tests: Record<string, string[]> };
    const file = relative(process.cwd(), reached.file);
    // A file that fails without a mutant would find every one.
    if (failed.has(file)) continue;
    for (const [test, names] of Object.entries(reached.tests))
      for (const hit of names) ((hits[hit] ??= {})[file] ??= []).push(test);
    for (const hit of reached.outside) (hits[hit] ??= {})[file] = null;
  }
  const ms = {
    ...again?.kept.ms,
    ...Object.fromEntries(answer.files.map(({ file, ms, tests }) => [file, { file: ms, tests }])),
  };
  const coverage = { commit: commitNow(), hits, ms, breadth: breadthOf(hits) };
  keepCoverage(coverage);
  return { coverage, failed: [...failed] };
}

function breadthOf(hits: Coverage["hits"]): Record<string, number> {
  const breadth: Record<string, number> = {};
  for (const reaching of Object.values(hits))
    for (const [file, tests] of Object.entries(reaching))
      for (const test of tests ?? []) breadth[`${file} > ${test}`] = (breadth[`${file} > ${test}`] ?? 0) + 1;
  return breadth;
}

const without = (files: ReadonlySet<string>, hits: Coverage["hits"]): Coverage["hits"] =>
  Object.fromEntries(
    Object.entries(hits).map(([hit, reaching]) => [
      hit,
      Object.fromEntries(Object.entries(reaching).filter(([file]) => !files.has(file))),
    ]),
  );

/** Test files that are new or changed since they were measured, or import from `test` what changed. */
export function outdated({ commit }: Coverage): string[] {
  const changed = `${git("diff", "--name-only", commit, "--", "test")}${git("ls-files", "-o", "--exclude-standard", "test")}`;
  return [...testsThatImport(new Set(changed.split("\n").filter(Boolean)))];
}

export const commitNow = (): string => git("rev-parse", "--short=8", "HEAD").trim().slice(0, 8);

export const git = (...args: string[]): string => execFileSync("git", args, { encoding: "utf8" });
