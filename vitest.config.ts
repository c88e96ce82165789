import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { testsByServer } from "./test/support/tests-by-server.ts";

const { pure, patching, postgres, examples, long } = testsByServer();

// For the processes that tests start: halves the CPU of each start. The folder is node's own choice.
process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "node-compile-cache");
// Half of each synthesis is CDK's validation of the template, which `npm run synth` has.
process.env["CDK_VALIDATION"] ??= "false";

const served = { globalSetup: ["test/support/postgres-server.ts"], setupFiles: ["test/support/end-kept.ts"] };

export default defineConfig({
  test: {
    // Bounds for what hangs, not measures: a busy machine must not fail a test.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // One more than the cores of a small machine: sockets, timers and browsers keep a test waiting while nothing runs.
    maxWorkers: 3,
    pool: "forks",
    projects: [
      // Modules are loaded once a worker, which halves the CPU of small files: a test undoes what it changes in its process.
      { extends: true, test: { name: "pure", include: pure, isolate: false } },
      { extends: true, test: { name: "patching", include: patching } },
      { extends: true, test: { name: "long", include: long, ...served } },
      { extends: true, test: { name: "examples", include: examples, ...served } },
      { extends: true, test: { name: "postgres", include: postgres, ...served, isolate: false } },
    ],
  },
});
