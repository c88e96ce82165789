import { defineApp, defineJob, PermanentError } from "belfry";
import { counted, quick } from "./target.ts";

/** Each poison shares batches with nine jobs that are fine, in a lane of its own. */
const poisons = {
  /** The process ends in the middle of the handler. */
  exits: () => process.exit(1),
  /** The process hears nothing any more: no timer, no heartbeat, no signal. */
  loops: () => {
    for (;;);
  },
  /** More memory than the process may have. */
  swells: () => {
    const kept: unknown[] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, () => ({ kept: true })));
  },
  /** Text that Postgres cannot store. */
  "nul-error": () => {
    throw new PermanentError("before\u0000after", { code: "BAD\u0000CODE" });
  },
  "surrogate-error": () => {
    throw new Error("half a pair: \ud800, and the other half: \udc00");
  },
  "huge-error": () => {
    throw new Error("x".repeat(1_000_000));
  },
  /** Not even an error. */
  "odd-throw": () => {
    throw Object.create(null);
  },
  /** A result that Postgres cannot store. */
  "nul-result": () => "before\u0000after",
} as const;

const few = { maxAttempts: 2, backoff: "fixed", base: "100ms" } as const;

const jobs = Object.entries(poisons).flatMap(([name, poison]) => [
  defineJob({ id: name, lane: name, ...quick, retry: few, timeout: "20s", ...counted, run: () => poison() }),
  defineJob({ id: `mate-of-${name}`, lane: name, ...quick, retry: few, timeout: "20s", ...counted }),
]);

/** For what is wrong with the message or the row, not with the handler. */
const fine = defineJob({ id: "fine", ...quick, retry: few, ...counted });

const lanes = Object.fromEntries(Object.keys(poisons).map((name) => [name, { batchSize: 10, concurrency: 2 }]));

export default [defineApp({ name: "proof", jobs: [...jobs, fine], lanes })];
