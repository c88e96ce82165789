import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { relative } from "node:path";
import { type Coverage, hitsFile, keepCoverage } from "./kept.ts";
import type { Sessions } from "./sessions.ts";

const coverMsMax = 3_600_000;

/** Runs every test file once and keeps which statement and which function it reaches. */
export async function cover(sessions: Sessions): Promise<{ coverage: Coverage; failed: readonly string[] }> {
  rmSync(hitsFile(), { force: true });
  const answer = await sessions.ask({ is: "coverage" }, coverMsMax);
  await sessions.close();
  if (answer?.is !== "covered") throw new Error("the coverage run did not end");
  const failed = new Set(answer.files.filter((file) => file.failed).map(({ file }) => file));
  const hits: Record<string, string[]> = {};
  for (const line of existsSync(hitsFile()) ? readFileSync(hitsFile(), "utf8").split("\n").filter(Boolean) : []) {
    const reached = JSON.parse(line) as { file: string; hits: string[] };
    const file = relative(process.cwd(), reached.file);
    // A file that fails without a mutant would find every one.
    if (failed.has(file)) continue;
    for (const hit of reached.hits) (hits[hit] ??= []).push(file);
  }
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  const ms = Object.fromEntries(answer.files.map(({ file, ms }) => [file, ms]));
  const coverage = { commit, hits, ms };
  keepCoverage(coverage);
  return { coverage, failed: [...failed] };
}
