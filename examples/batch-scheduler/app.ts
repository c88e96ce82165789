import { defineApp, defineJob, defineSchedule } from "belfry";
import { arrive } from "./arrivals.ts";
import { routes } from "./routes.ts";
import { retryUseCase } from "./use-case.ts";
import { downloads, outbox } from "./wiring.ts";

/** Attempts an item has before it is given up, and the wait after the first; each further wait is twice as long. */
export const policy = { maxAttempts: 3, backoffMs: 5_000 };

/**
 * A run that does not get the lock is SKIPPED. One that does calls its use case in batches, up to a limit, and counts them.
 * What is left over waits for the next run; the metric `scheduler.items.left` says so.
 */
export const outboxRetry = defineJob({
  id: "outbox-retry",
  timeout: "10m",
  environment: ["ORDERS_QUEUE_URL"],
  lock: { name: "scheduler:outbox-retry" },
  run(_, { scheduledFor: startedAt, signal, batches }) {
    const { execute } = retryUseCase(outbox, { startedAt, policy, signal });
    return batches({ size: 100, maxIterations: { default: 10, demo: 5 } }, execute);
  },
});

export const externalDownloadRetry = defineJob({
  id: "external-download-retry",
  timeout: "10m",
  environment: ["FILES_URL"],
  lock: { name: "scheduler:external-download-retry" },
  run(_, { scheduledFor: startedAt, signal, batches }) {
    const { execute } = retryUseCase(downloads, { startedAt, policy, signal });
    return batches({ size: { default: 100, demo: 10 }, maxIterations: 5 }, execute);
  },
});

/** Five minutes, in production one (downloads: five there too). Off in a stage that `enabled` does not name, such as `dev`. */
const every = { default: "5m", prod: "1m", systems: "1m", smoke: "1m", demo: "30s" } as const;
const rates = {
  enabled: { prod: true, systems: true, smoke: true, demo: true, examples: true },
  overlap: "skip",
  // rule: EventBridge starts a process for each fire, too slow for the demonstration. tick: the scheduler and a worker do it.
  launch: { default: "rule", demo: "tick" },
} as const;
const downloadEvery = { ...every, prod: "5m", systems: "5m", demo: "45s" } as const;

/** What other parts of the shop go on writing: twenty messages and two files a minute. */
const shopArrivals = defineJob({
  id: "shop-arrivals",
  run: (_, ctx) => ctx.tx((tx) => arrive(tx, { messages: 20, files: 2 })),
});
const often = { every: { examples: "1m" }, misfire: "skip", enabled: { examples: true } } as const;

export default defineApp({
  name: "batch-scheduler",
  schedules: [
    defineSchedule({ id: "outbox-retry", run: outboxRetry, every, ...rates }),
    defineSchedule({ id: "external-download-retry", run: externalDownloadRetry, every: downloadEvery, ...rates }),
    defineSchedule({ id: "shop-arrivals", run: shopArrivals, ...often }),
  ],
  migrations: new URL("./migrations/", import.meta.url),
  routes,
});
