import {
  type BatchResult,
  type ByStage,
  type Context,
  defineApp,
  defineJob,
  defineSchedule,
  type PerStage,
} from "belfry";
import { arrive } from "./arrivals.ts";
import type { Item } from "./items.ts";
import { routes } from "./routes.ts";
import { beginTurn } from "./use-case.ts";
import { wired } from "./wiring.ts";

/** Attempts an item has, and the wait after the first failed one; each further wait is twice as long. */
const maxAttempts = 3;
const backoffMs: ByStage<number> & { readonly default: number } = { default: 5_000, prod: 60_000, demo: 1_000 };

/**
 * One run of a scheduler: bounded batches of the use case until nothing is left or the limit is reached.
 * What was left over waits for the next run; the metric `scheduler.items.left` says so.
 */
async function turn<T extends Item<V>, V>(
  ports: Parameters<typeof beginTurn<T, V>>[0],
  limits: { readonly size: PerStage<number>; readonly maxIterations: PerStage<number> },
  ctx: Context,
): Promise<BatchResult> {
  const policy = { maxAttempts, backoffMs: backoffMs[ctx.stage] ?? backoffMs.default };
  const { execute } = await beginTurn(ports, { policy, signal: ctx.signal });
  return await ctx.batches(limits, execute);
}

const outboxRetry = defineJob({
  id: "outbox-retry",
  timeout: "10m",
  lock: { name: "scheduler:outbox-retry", ttl: "5m" },
  run: (_, ctx) => turn(wired().outbox, { size: 100, maxIterations: { default: 10, demo: 5 } }, ctx),
});

const externalDownloadRetry = defineJob({
  id: "external-download-retry",
  timeout: "10m",
  lock: { name: "scheduler:external-download-retry", ttl: "5m" },
  run: (_, ctx) => turn(wired().downloads, { size: { default: 100, demo: 10 }, maxIterations: 5 }, ctx),
});

/** As the guide has it: five minutes, one in production, and off in a stage that is not named, as on a developer's machine. */
const rates = {
  every: { default: "5m", prod: "1m", smoke: "1m", demo: "30s" },
  enabled: { prod: true, smoke: true, demo: true, examples: true },
  overlap: "skip",
  // A rule starts a process for each fire, which a demonstration in compressed time has no patience for.
  launch: { default: "rule", demo: "tick" },
} as const;

const everywhere = [
  defineSchedule({ id: "outbox-retry", run: outboxRetry, ...rates }),
  defineSchedule({
    id: "external-download-retry",
    run: externalDownloadRetry,
    ...rates,
    every: { ...rates.every, prod: "5m", demo: "45s" },
  }),
];

/** What other parts of the shop go on writing: twenty messages and two files a minute. */
const arrivals = defineSchedule({
  id: "shop-arrivals",
  every: { examples: "1m" },
  run: defineJob({ id: "shop-arrivals", run: (_, ctx) => ctx.tx((tx) => arrive(tx, { messages: 20, files: 2 })) }),
  misfire: "skip",
  enabled: { examples: true },
});

export default defineApp({
  name: "batch-scheduler",
  schedules: [...everywhere, arrivals],
  migrations: new URL("./migrations/", import.meta.url),
  routes,
});
