import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startVitest } from "vitest/node";
import { z } from "zod";
import type { Verdict } from "../kept.ts";
import type { Mutant } from "../mutant.ts";
import { isStatic, type Numbered } from "./markers.ts";

const answerShape = z.record(
  z.string(),
  z.object({ is: z.enum(["killed", "survived", "invalid"]), by: z.string().nullable() }),
);

/** Its tests fail when a statement answers or writes anything that their golden files do not say. */
const testFolder = "test/postgres/effects";

/**
 * Tries mutants of statements while `test/postgres/effects` runs, all in one run.
 * @returns those that make no difference there, but may elsewhere.
 */
export async function judgeWatched(
  mutants: readonly Mutant[],
  { onVerdict }: { readonly onVerdict: (verdict: Verdict) => void },
): Promise<readonly Mutant[]> {
  const folder = mkdtempSync(join(tmpdir(), "belfry-watched-"));
  const startedMs = performance.now();
  try {
    const numbered = mutants.filter(isStatic).map((mutant, at): Numbered => ({ number: at + 1, mutant }));
    writeFileSync(join(folder, "mutants.json"), JSON.stringify(numbered));
    process.env["BELFRY_WATCHED"] = folder;
    const config = join(import.meta.dirname, "vitest.config.ts");
    const vitest = await startVitest("test", [testFolder], { config, watch: false, reporters: [{}] });
    const failed = vitest.state
      .getTestModules()
      .flatMap((module) => [...module.children.allTests("failed")])
      .map((test) => `${test.fullName}: ${test.result().errors?.[0]?.message ?? ""}`);
    await vitest.close();
    if (failed.length > 0) throw new Error(`${testFolder} fails without a mutant: ${failed.slice(0, 3).join("; ")}`);
    const tried = answerShape.parse(JSON.parse(readFileSync(join(folder, "verdicts.json"), "utf8")));
    const ms = Math.round((performance.now() - startedMs) / Math.max(1, mutants.length));
    const left: Mutant[] = [];
    for (const mutant of mutants) {
      const { is, by } = tried[mutant.key] ?? { is: "survived", by: null };
      if (is === "survived") left.push(mutant);
      else onVerdict({ key: mutant.key, is, by: by === null ? null : `${testFolder} > ${by}`, tests: 1, ms });
    }
    return left;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
