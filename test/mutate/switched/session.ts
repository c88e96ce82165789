/** A process with one vitest, which its parent may kill. What its tests do is in the journal. */
import { join, resolve } from "node:path";
import { createVitest, type Vitest } from "vitest/node";

/** Test files, by their path in the project. */
export interface Given {
  readonly files: readonly string[];
}

let vitest: Vitest | null = null;

async function run({ files }: Given): Promise<void> {
  vitest ??= await createVitest({
    watch: false,
    reporters: [{}],
    config: process.env["BELFRY_VITEST_CONFIG"] ?? join(import.meta.dirname, "vitest.config.ts"),
    project: ["pure", "patching", "postgres"],
    passWithNoTests: true,
  });
  const all = new Map((await vitest.globTestSpecifications()).map((one) => [one.moduleId, one]));
  await vitest.runTestSpecifications(files.flatMap((file) => all.get(resolve(file)) ?? []));
  process.send?.("done");
}

process.on("message", (given: Given) => {
  run(given).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });
});
// It leads a process group, whose test processes would go on without it.
process.on("disconnect", () => process.kill(-process.pid, "SIGKILL"));
process.send?.("ready");
