import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { z } from "zod";
import type { Verdict } from "../kept.ts";
import type { Mutant } from "../mutant.ts";

const answerShape = z.record(
  z.string(),
  z.object({ is: z.enum(["killed", "survived", "invalid"]), by: z.string().nullable() }),
);

/** A session of tests that fails when a tour is not what its file says. */
const testFile = "postgres/effects/effects.test.ts";

/**
 * Tries mutants of statements in the tours of `test/postgres/effects`, all in one walk.
 * @returns those that make no difference there, but may elsewhere.
 */
export async function judgeToured(
  mutants: readonly Mutant[],
  { onVerdict }: { readonly onVerdict: (verdict: Verdict) => void },
): Promise<readonly Mutant[]> {
  if (mutants.length === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), "belfry-tours-"));
  const startedMs = performance.now();
  try {
    const keys = join(folder, "keys");
    writeFileSync(keys, mutants.map(({ key }) => key).join("\n"));
    const child = spawn(process.execPath, [join(import.meta.dirname, "process.ts"), "", keys], {
      env: { ...process.env, TZ: "UTC" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [printed, [code]] = await Promise.all([text(child.stdout), once(child, "exit") as Promise<[number | null]>]);
    if (code !== 0) throw new Error(`the tours ended with exit code ${code}`);
    const tried = answerShape.parse(JSON.parse(printed));
    const each = Math.round((performance.now() - startedMs) / mutants.length);
    const left: Mutant[] = [];
    for (const mutant of mutants) {
      const { is, by } = tried[mutant.key] ?? { is: "survived", by: null };
      if (is === "survived") left.push(mutant);
      else onVerdict({ key: mutant.key, is, by: by === null ? null : `${testFile} > ${by}`, tests: 1, ms: each });
    }
    return left;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
