import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { defineApp, defineFanOut, defineJob } from "belfry";
import { z } from "zod";
import { tell } from "./target.ts";

/** Ends well as soon as its gate is there. It may be tried once: whoever runs it again, or fails it, breaks a promise. */
const gated = defineJob({
  id: "gated",
  lane: "gated",
  timeout: "4m",
  retry: { maxAttempts: 1 },
  payload: z.object({ gate: z.string() }),
  async run({ gate }, ctx) {
    await tell("start", ctx);
    while (!existsSync(gate)) await wait(50);
    await tell("effect", ctx);
  },
});

export const seats = 2;
/** Two at once: more arrive than that. */
const seated = defineJob({
  id: "seated",
  lane: "seated",
  concurrency: seats,
  payload: z.object({ n: z.number() }),
  async run(_, ctx) {
    await wait(60);
    await tell("effect", ctx);
  },
});

const push = defineJob({ id: "push", lane: "push", payload: z.object({ to: z.number() }), run: () => {} });

export const targets = 2_500;
const broken = (): boolean => existsSync(process.env["BELFRY_PROOF_BROKEN"] ?? "");
async function* rows() {
  for (let id = 1; id <= targets; id += 1) {
    if (id === 1_501 && broken()) throw new Error("the source is broken");
    yield { id };
  }
}
/** Its second page cannot be read while the source is broken. */
const orphan = defineFanOut({
  id: "orphan",
  lane: "pages",
  retry: { maxAttempts: 2, backoff: "fixed", base: "100ms" },
  from: rows,
  key: (row) => String(row.id),
  each: push,
  payload: (row) => ({ to: row.id }),
});

const lanes = {
  gated: { batchSize: 10, concurrency: 30 },
  push: { batchSize: 10, concurrency: 3 },
  seated: { batchSize: 2, concurrency: 6 },
  pages: {},
};
export default [defineApp({ name: "proof", jobs: [gated, seated, push, orphan], lanes })];
