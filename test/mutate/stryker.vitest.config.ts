import { defineConfig } from "vitest/config";
import { testsByServer } from "../support/tests-by-server.ts";

/** Tests of the core and the API that need no Postgres: one mutant after another runs in their process. */
export default defineConfig({
  test: {
    include: testsByServer().pure.filter((file) =>
      /^test\/(api|contract|core|definitions|invariants|outbound|publish|runs|schedules|schedules-control|sim)\//.test(
        file,
      ),
    ),
    pool: "forks",
    testTimeout: 60_000,
  },
});
