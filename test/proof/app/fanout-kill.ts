import { defineApp, defineFanOut, defineJob, sql } from "belfry";
import { z } from "zod";
import { fanOuts } from "../points.ts";
import { without } from "./target.ts";

const push = defineJob({ id: "push", lane: "push", payload: z.object({ to: z.number() }), run: () => {} });

/** Each has its own share of the subscribers and its own lane, so that many can be killed at the same time. */
const shares = Array.from({ length: fanOuts }, (_, share) =>
  defineFanOut<{ id: number }, { to: number }>({
    id: `daily-${share}`,
    lane: `share-${share}`,
    lease: "2s",
    retry: { maxAttempts: 10, backoff: "fixed", base: "100ms" },
    from: () => sql<{ id: number }>`select id from proof.subscriber where id % ${fanOuts} = ${share}`,
    key: (row) => (without("repeat") ? `${row.id}:${Math.random()}` : String(row.id)),
    each: push,
    payload: (row) => ({ to: row.id }),
  }),
);

const lanes = Object.fromEntries(shares.map((_, share) => [`share-${share}`, { batchSize: 1, concurrency: 2 }]));

export default [defineApp({ name: "proof", jobs: [push, ...shares], lanes: { push: {}, ...lanes } })];
