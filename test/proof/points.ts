/** Jobs of the case `cap` that may run at once. */
export const capSize = 7;

/** Fan-outs of the case `fanout-kill`, each with its share of the targets. */
export const fanOuts = 5;

/** The named places in the code where a process may be made to die. */
export const points = {
  worker: ["received", "claimed", "effect.before", "effect.after", "settled", "acked"],
  scheduler: [
    "lock.acquired",
    "fence.installed",
    "tick.beforeCommit",
    "tick.afterCommit",
    "relay.claimed",
    "relay.sent",
    "relay.confirmed",
    "lock.beforeRelease",
  ],
} as const;

export type WorkerPoint = (typeof points.worker)[number];
export type SchedulerPoint = (typeof points.scheduler)[number];
/** Jobs of the case `per-key` that may run at once: of one customer, and of all. */
export const perKeySizes = { each: 3, total: 20 };
/** The limit of the case `rate`. */
export const sharedRate = { limit: 50, per: "1s", perMs: 1_000 } as const;
/** The lane of the cases `fairness` and `priority`: 4 workers of 4 jobs. */
export const turnSizes = { places: 16, ahead: 20, aging: "5s", agingMs: 5_000 } as const;
/** The circuit of the case `circuit`. */
export const circuitTimes = { over: "10s", minimum: 20, pause: "3s" } as const;
/** The batches of the case `batch`. */
export const batchSizes = { max: 5, wait: "1s", waitMs: 1_000 } as const;
/** The debounce of the case `debounce`. */
export const debounceTimes = { for: "1s", max: "3s", maxMs: 3_000 } as const;
/** Rows of a run of the case `each`. */
export const eachRows = 40;
/** Which release of the case `newest` a process runs. */
export const newestVariable = "BELFRY_PROOF_NEWEST";
export const isNewest = (): boolean => process.env[newestVariable] === "1";
