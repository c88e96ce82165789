import { defineApp, defineJob } from "belfry";
import { points } from "../points.ts";
import { counted, quick } from "./target.ts";

/** One kind and one lane for each place to die, so that the places do not wait for each other. */
const kinds = points.worker.flatMap((point) => [effectOn(`alone.${point}`), effectOn(`batch.${point}`)]);

function effectOn(name: string) {
  return defineJob({
    id: name,
    lane: name.replaceAll(".", "-"),
    retry: { maxAttempts: 4, backoff: "fixed", base: "200ms" },
    ...quick,
    ...counted,
  });
}

const lanes = Object.fromEntries(
  points.worker.flatMap((point) => {
    const lane = point.replaceAll(".", "-");
    return [
      [`alone-${lane}`, { batchSize: 1, concurrency: 2 }],
      [`batch-${lane}`, { batchSize: 10, concurrency: 2 }],
    ] as const;
  }),
);

export default [defineApp({ name: "proof", jobs: kinds, lanes })];
