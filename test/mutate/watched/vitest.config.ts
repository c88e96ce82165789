import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { defineConfig } from "vitest/config";
import { marked, type Numbered } from "./markers.ts";

const folder = process.env["BELFRY_WATCHED"] ?? "";
const mutants = JSON.parse(readFileSync(join(folder, "mutants.json"), "utf8")) as readonly Numbered[];
const byFile = Map.groupBy(mutants, ({ mutant }) => mutant.file);

/** The statements come with marks around what each mutant changes. */
const plugin = {
  name: "belfry-watched",
  enforce: "pre" as const,
  transform: (code: string, id: string): string =>
    marked(code, byFile.get(relative(process.cwd(), id.split("?")[0] ?? id)) ?? []),
};

export default defineConfig({
  root: process.cwd(),
  plugins: [plugin],
  test: {
    pool: "forks",
    maxWorkers: 1,
    // One process for both files, which share what was tried.
    isolate: false,
    fsModuleCache: false,
    // Trials leave dead rows, which move those behind them: golden files hold without them only.
    testNamePattern: /^(?!.*row for row)/,
    setupFiles: [`${import.meta.dirname}/setup.ts`],
    // A statement is sent once for each of its mutants that no test has found yet.
    testTimeout: 3_600_000,
    hookTimeout: 600_000,
  },
});
