import { relative } from "node:path";
import { defineConfig, mergeConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import base from "../../vitest.config.ts";
import { instrumented } from "./instrument.ts";
import { mutated } from "./mutant.ts";
import { planted } from "./planted.ts";

/** Changes the one file of the planted mutant, or says which statements are sent. */
const plugin = {
  name: "belfry-mutate",
  enforce: "pre" as const,
  transform(code: string, id: string): string | null {
    const file = relative(process.cwd(), id.split("?")[0] ?? id);
    const now = planted();
    if (now === "coverage") return instrumented(file, code);
    return now?.file === file ? mutated(code, now) : null;
  },
};

/** Test files in the order in which they were asked for: the likely finders come first. */
class AsAsked extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files);
  }
}

const setup = planted() === "coverage" ? [`${import.meta.dirname}/hits.setup.ts`] : [];

export default mergeConfig(
  base,
  defineConfig({
    root: process.cwd(),
    plugins: [plugin],
    // A mutant that hangs is found: every test of these files ends far below this.
    // One worker loads the modules once, and the time of two would be spent on loading them again.
    test: {
      maxWorkers: planted() === "coverage" ? 2 : 1,
      // By its key a file is what it is on disk: the cache would give the unchanged module for each mutant.
      fsModuleCache: false,
      setupFiles: setup,
      sequence: { sequencer: AsAsked },
      testTimeout: 30_000,
      hookTimeout: 30_000,
      expect: { poll: { timeout: 10_000 } },
    },
  }),
);
