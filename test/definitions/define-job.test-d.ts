/** Misuse that must not compile: `tsc` reports an expectation that no longer fails. Nothing here runs. */
import { defineApp, defineJob, type Job } from "belfry";
import { z } from "zod";

const report = defineJob({
  id: "export-report",
  timeout: "14m",
  concurrency: 5,
  payload: z.object({ reportId: z.uuid(), format: z.enum(["csv", "xlsx"]).default("csv") }),
  key: (p) => `report:${p.reportId}:${p.format}`,
  retry: { maxAttempts: 5, base: "2s", cap: "5m", jitter: true },
  lock: { name: "scheduler:report" },
  async run(p, ctx) {
    // The handler sees the schema's output: the default has been applied.
    const format: "csv" | "xlsx" = p.format;
    await ctx.heartbeat(0.5);
    return { format };
  },
  async onSettled(p, settled, tx) {
    await tx.query("insert into report_log values ($1, $2)", [p.reportId, settled.outcome]);
  },
});

// The caller sees the schema's input: what has a default may be left out.
const typed: Job<{ reportId: string; format?: "csv" | "xlsx" | undefined }> = report;
void typed.enqueue({ reportId: "r" }, { key: "k", delay: "10m" });

const batch = defineJob({
  id: "outbox-retry",
  payload: z.void(),
  run: (_, ctx) =>
    ctx.batches({ size: { default: 100, dev: 10 }, maxIterations: 10 }, async (size) => ({
      processed: size,
      succeeded: size,
      failed: 0,
      hasMore: false,
    })),
});
void batch.enqueue();
const bare = defineJob({ id: "bare", run: (_, ctx) => ctx.tx(async () => 1) });
void bare.enqueue();
defineApp({ name: "ok", jobs: [report, batch, bare], lanes: { mail: { concurrency: { default: 2, prod: 10 } } } });

const customer = z.object({ customer: z.string(), n: z.number() });
defineJob({ id: "a", payload: customer, concurrency: { max: 50, perKey: 5, key: (p) => p.customer }, run: () => {} });
defineJob({ id: "a", payload: customer, concurrency: { perKey: 5, key: (p) => p.customer }, run: () => {} });
defineJob({ id: "a", payload: customer, concurrency: { max: 5 }, run: () => {} });
// @ts-expect-error a cap by key says what the key is
defineJob({ id: "a", payload: customer, concurrency: { max: 50, perKey: 5 }, run: () => {} });
// @ts-expect-error a concurrency key is made from what the schema declares
defineJob({ id: "a", payload: customer, concurrency: { perKey: 5, key: (p) => p.tenant }, run: () => {} });
// @ts-expect-error a concurrency key is text
defineJob({ id: "a", payload: customer, concurrency: { perKey: 5, key: (p) => p.n }, run: () => {} });

defineJob({ id: "a", payload: customer, rate: { limit: 5, per: "1s", key: (p) => p.customer }, run: () => {} });
// @ts-expect-error a rate says in which time
defineJob({ id: "a", payload: customer, rate: { limit: 5 }, run: () => {} });
// @ts-expect-error a rate's key is made from what the schema declares
defineJob({ id: "a", payload: customer, rate: { limit: 5, per: "1s", key: (p) => p.tenant }, run: () => {} });

// @ts-expect-error "10 minutes" is not a duration
defineJob({ id: "a", timeout: "10 minutes", run: () => {} });
// @ts-expect-error a duration has a unit
defineJob({ id: "a", lease: "10", run: () => {} });
// @ts-expect-error a duration is not a number
defineJob({ id: "a", retention: 30, run: () => {} });
// @ts-expect-error a wrong enum value: runOn
defineJob({ id: "a", runOn: "ec2", run: () => {} });
// @ts-expect-error a wrong enum value: onAmbiguous
defineJob({ id: "a", onAmbiguous: "ignore", run: () => {} });
// @ts-expect-error a wrong enum value: backoff
defineJob({ id: "a", retry: { maxAttempts: 2, backoff: "linear" }, run: () => {} });
// @ts-expect-error a retry policy says how many tries
defineJob({ id: "a", retry: { base: "2s" }, run: () => {} });
// @ts-expect-error a misspelt option
defineJob({ id: "a", timeOut: "10s", run: () => {} });
// @ts-expect-error a job has an id
defineJob({ run: () => {} });
// @ts-expect-error a job has a handler
defineJob({ id: "a" });
// @ts-expect-error a payload is described by a schema, not by an example
defineJob({ id: "a", payload: { to: "someone" }, run: () => {} });
// @ts-expect-error a handler reads only what the schema declares
defineJob({ id: "a", payload: z.object({ to: z.string() }), run: (p) => p.cc });
// @ts-expect-error a key is made from what the schema declares
defineJob({ id: "a", payload: z.object({ to: z.string() }), key: (p) => p.cc, run: () => {} });
// @ts-expect-error a key is text
defineJob({ id: "a", payload: z.object({ n: z.number() }), key: (p) => p.n, run: () => {} });
// @ts-expect-error a handler without a payload schema has nothing to read
defineJob({ id: "a", run: (p) => p.to });
// @ts-expect-error a result is JSON
defineJob({ id: "a", run: async () => () => {} });
// @ts-expect-error an unknown field of the context
defineJob({ id: "a", run: (_, ctx) => ctx.database });
// @ts-expect-error a lock has no time of its own
defineJob({ id: "a", lock: { ttl: "5m" }, run: () => {} });

// @ts-expect-error a payload is required
void report.enqueue();
// @ts-expect-error a wrong enum value in a payload
void report.enqueue({ reportId: "r", format: "pdf" });
// @ts-expect-error a misspelt payload field
void report.enqueue({ reportID: "r" });
// @ts-expect-error a job without a payload takes none
void bare.enqueue({ reportId: "r" });
// @ts-expect-error a delay is a duration
void report.enqueue({ reportId: "r" }, { delay: 600 });
// @ts-expect-error an app is made of jobs, not of ids
defineApp({ name: "wrong", jobs: ["export-report"] });
// @ts-expect-error a misspelt lane setting
defineApp({ name: "wrong", lanes: { mail: { concurency: 2 } } });
defineJob({
  id: "a",
  async run(_, ctx) {
    // @ts-expect-error a child's payload is typed too
    await ctx.enqueue(report, { reportId: 7 });
  },
});
