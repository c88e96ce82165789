import { defineApp, defineJob } from "belfry";
import { z } from "zod";
import { counted, tell } from "./target.ts";

const payload = z.object({ n: z.number() });
const quick = { lease: "6s", retry: { maxAttempts: 10, backoff: "fixed", base: "500ms" } } as const;

/** One outside call. */
const calls = defineJob({ id: "calls", ...quick, ...counted });

/** A row in a table of the app, in the transaction that settles the job. */
const books = defineJob({
  id: "books",
  ...quick,
  payload,
  async run({ n }, ctx) {
    await ctx.tx(async (tx) => {
      await tx.query("insert into proof.booked (n, job_id) values ($1, $2)", [n, ctx.jobId]);
      return null;
    });
  },
});

/** Runs longer than its lease: only heartbeats keep it. */
const lasts = defineJob({
  id: "lasts",
  ...quick,
  lane: "long",
  timeout: "2m",
  payload,
  async run({ n }, ctx) {
    await new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, 9_000);
      ctx.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(ctx.signal.reason as Error);
      });
    });
    await tell("effect", ctx, String(n));
  },
});

export const steadySql = `
create schema proof;
create table proof.booked (n int not null, job_id bigint not null);`;

export default [defineApp({ name: "proof", jobs: [calls, books, lasts], lanes: { long: { batchSize: 5 } } })];
