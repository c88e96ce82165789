import { inStore, type Mutant, wrongBefore } from "./mutant.ts";

/** Bugs in what bounds the starts of a kind beside its caps. */
export const flowMutants: readonly Mutant[] = [
  {
    name: "burst-beside-one-that-waits",
    bug: "a call does not look whether the burst of its key still waits",
    planted: wrongBefore("insert", ({ bursts }) => {
      for (const [key] of bursts.entries()) bursts.delete(key);
    }),
  },
  {
    name: "rate-without-window",
    bug: "a unit of a rate is back when its job has started",
    planted: wrongBefore("claim", ({ slots }) => {
      for (const [id, slot] of slots.entries())
        if (slot.key === "rate:rated" && slot.jobId === null) slots.set(id, { ...slot, freeFrom: null });
    }),
  },
  {
    name: "batch-of-any-key",
    bug: "a job takes along what waits under another key",
    planted: wrongBefore("gather", (t) => {
      for (const row of t.inStates("PENDING", "QUEUED", "RETRY_WAIT", "RUNNING"))
        if (row.batchKey !== null) t.jobs.set(row.id, { ...row, batchKey: "any" });
    }),
  },
  {
    name: "retries-without-budget",
    bug: "a retry waits for its backoff alone",
    planted: inStore(() => ({ spaceRetries: async () => [] })),
  },
  {
    name: "open-circuit-holds-nothing",
    bug: "what arrives for an open circuit is claimed",
    planted: inStore(() => ({ holdForCircuits: async () => [] })),
  },
];
