import { defineApp, defineJob, PermanentError } from "belfry";
import { z } from "zod";

/** Logs what it was given, and fails with it. */
const echo = defineJob({
  id: "echo",
  payload: z.unknown(),
  run(payload, ctx) {
    const text = String((payload as { text?: unknown } | null)?.text);
    ctx.log.info(`echo ${text}`, { text });
    throw new PermanentError(text, { code: "ECHO" });
  },
});

export default [defineApp({ name: "proof", jobs: [echo] })];
