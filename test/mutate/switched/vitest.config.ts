import { defineConfig, mergeConfig } from "vitest/config";
import base from "../../../vitest.config.ts";
import { AsAsked } from "../as-asked.ts";
import { plugin, runner } from "./plugin.ts";

export default mergeConfig(
  base,
  defineConfig({
    root: process.cwd(),
    plugins: [plugin],
    // What one file finds is not tried by the next, and no run waits for another's work.
    test: { maxWorkers: 1, fsModuleCache: false, runner, update: "none", sequence: { sequencer: AsAsked } },
  }),
);
