import {
  type BatchResult,
  type Context,
  defineApp,
  defineJob,
  defineSchedule,
  type ByStage,
  type PerStage,
} from "belfry";
import { assembled } from "./assembler.ts";
import type { Item } from "./ports.ts";
import { beginTurn, type RetryParts } from "./use-case.ts";

/** Tries an item has, and the wait after the first failed one; each further wait is twice as long. */
const tries = 3;
const backoffMs: ByStage<number> & { readonly default: number } = { default: 60_000, examples: 5_000, demo: 1_000 };

/**
 * One run of a scheduler: bounded batches of the use case until nothing is left or the limit is reached.
 * What was left over waits for the next run; the metric `scheduler.items.left` says so.
 */
async function turn<T extends Item, R>(
  parts: RetryParts<T, R>,
  limits: { readonly size: PerStage<number>; readonly maxIterations: PerStage<number> },
  ctx: Context,
): Promise<BatchResult> {
  const policy = { maxAttempts: tries, backoffMs: backoffMs[ctx.stage] ?? backoffMs.default };
  const { execute } = await beginTurn(parts, { policy, signal: ctx.signal });
  return await ctx.batches(limits, execute);
}

const outboxRetry = defineJob({
  id: "outbox-retry",
  timeout: "10m",
  lock: { name: "scheduler:outbox-retry", ttl: "5m" },
  run: (_, ctx) => turn(assembled().outbox, { size: 100, maxIterations: { default: 10, demo: 5 } }, ctx),
});

const externalDownloadRetry = defineJob({
  id: "external-download-retry",
  timeout: "10m",
  lock: { name: "scheduler:external-download-retry", ttl: { default: "2m", demo: "5m" } },
  run: (_, ctx) => turn(assembled().downloads, { size: { default: 20, demo: 10 }, maxIterations: 5 }, ctx),
});

const outboxRetrySchedule = defineSchedule({
  id: "outbox-retry",
  every: { prod: "1m", examples: "1m", demo: "30s", smoke: "1m" },
  run: outboxRetry,
  overlap: "skip",
  enabled: { prod: true, examples: true, demo: true, smoke: true },
  // A rule starts a process for each fire, which a demonstration in compressed time has no patience for.
  launch: { default: "rule", demo: "tick" },
});

const externalDownloadRetrySchedule = defineSchedule({
  id: "external-download-retry",
  every: { prod: "5m", examples: "2m", demo: "45s", smoke: "2m" },
  run: externalDownloadRetry,
  overlap: "skip",
  enabled: { prod: true, examples: true, demo: true, smoke: true },
  // A rule starts a process for each fire, which a demonstration in compressed time has no patience for.
  launch: { default: "rule", demo: "tick" },
});

export default defineApp({
  name: "batch-scheduler",
  schedules: [outboxRetrySchedule, externalDownloadRetrySchedule],
  migrations: new URL("./migrations/", import.meta.url),
});
