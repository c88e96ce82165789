import { defineApp, defineFanOut, defineJob, sql } from "belfry";
import { z } from "zod";

const push = defineJob({ id: "push", lane: "push", payload: z.object({ to: z.number() }), run: () => {} });

const tell = defineFanOut<{ id: number }, { to: number }>({
  id: "tell",
  lane: "tell",
  timeout: "10m",
  from: () => sql<{ id: number }>`select id from proof.subscriber`,
  key: (row) => String(row.id),
  each: push,
  payload: (row) => ({ to: row.id }),
});

export default [
  defineApp({
    name: "proof",
    jobs: [push, tell],
    lanes: { push: { batchSize: 10, concurrency: 2 }, tell: { batchSize: 1, concurrency: 2 } },
  }),
];
