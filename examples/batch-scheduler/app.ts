import { type BatchResult, type Context, defineApp, defineJob, defineSchedule } from "belfry";
import { assembled, here } from "./assembler.ts";
import type { Item } from "./ports.ts";
import { beginTurn, type RetryParts } from "./use-case.ts";

/** One run of a scheduler: bounded batches of the use case until nothing is left or the limit is reached. */
async function turn<T extends Item, R>(
  parts: RetryParts<T, R>,
  limits: { size: number; maxIterations: number },
  ctx: Context,
): Promise<BatchResult> {
  const { execute } = await beginTurn(parts, ctx.signal);
  const result = await ctx.batches(limits, execute);
  // What was left over waits for the next run. A metric that stays above 0 says: raise the limits or the rate.
  ctx.metric("scheduler.has_more", result.hasMore ? 1 : 0);
  return result;
}

const outboxRetry = defineJob({
  id: "outbox-retry",
  timeout: "10m",
  lock: { name: "scheduler:outbox-retry", ttl: { default: "5m", demo: "20s" } },
  run: (_, ctx) =>
    turn(assembled().outbox, { size: here({ default: 100 }), maxIterations: here({ default: 10 }) }, ctx),
});

const externalDownloadRetry = defineJob({
  id: "external-download-retry",
  timeout: "10m",
  lock: { name: "scheduler:external-download-retry", ttl: { default: "2m", demo: "20s" } },
  run: (_, ctx) =>
    turn(assembled().downloads, { size: here({ default: 20, demo: 10 }), maxIterations: here({ default: 5 }) }, ctx),
});

const outboxRetrySchedule = defineSchedule({
  id: "outbox-retry",
  every: { default: "5m", prod: "1m", dev: "15s", demo: "2s" },
  run: outboxRetry,
  overlap: "skip",
  enabled: { prod: true, dev: true, demo: true },
});

const externalDownloadRetrySchedule = defineSchedule({
  id: "external-download-retry",
  every: { default: "10m", prod: "5m", dev: "30s", demo: "3s" },
  run: externalDownloadRetry,
  overlap: "skip",
  enabled: { prod: true, dev: true, demo: true },
});

export default defineApp({
  name: "batch-scheduler",
  schedules: [outboxRetrySchedule, externalDownloadRetrySchedule],
  migrations: new URL("./migrations/", import.meta.url),
});
