import { defineApp, defineJob } from "belfry";
import { z } from "zod";

/**
 * Fails its first tries on purpose, so that a deployment can show that it tries again, and when it stops. Only in the stages
 * that are deployed to be tried out (`belfry.config.ts`).
 */
const drill = defineJob({
  id: "drill",
  payload: z.object({ failures: z.int().min(0) }),
  retry: { maxAttempts: 3, base: "1s" },
  run({ failures }, ctx) {
    if (ctx.failures < failures) throw new Error(`failure ${ctx.failures + 1} of ${failures}, as asked for`);
  },
});

const apps = [defineApp({ name: "drill", jobs: [drill] })];
export default apps;
