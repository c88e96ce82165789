import { inStore, place, type Mutant } from "./mutant.ts";

/** Bugs in what bounds the starts of a kind beside its caps. */
export const flowMutants: readonly Mutant[] = [
  {
    name: "burst-beside-one-that-waits",
    bug: "a call does not look whether the burst of its key still waits",
    without: [],
    planted: inStore((base) => ({
      insert: (jobs, options) => {
        place(base, (t) => {
          for (const [key] of t.bursts.entries()) t.bursts.delete(key);
        });
        return base.insert(jobs, options);
      },
    })),
  },
  {
    name: "rate-without-window",
    bug: "a unit of a rate is back when its job has started",
    without: [],
    planted: inStore((base) => ({
      claim: (messages, options) => {
        place(base, (t) => {
          for (const [id, slot] of t.slots.entries())
            if (slot.key === "rate:rated")
              t.slots.set(id, { ...slot, freeFrom: slot.jobId === null ? null : slot.freeFrom });
        });
        return base.claim(messages, options);
      },
    })),
  },
  {
    name: "batch-of-any-key",
    bug: "a job takes along what waits under another key",
    without: [],
    planted: inStore((base) => ({
      gather: (started) => {
        place(base, (t) => {
          for (const row of t.inStates("PENDING", "QUEUED", "RETRY_WAIT", "RUNNING"))
            if (row.batchKey !== null) t.jobs.set(row.id, { ...row, batchKey: "any" });
        });
        return base.gather(started);
      },
    })),
  },
  {
    name: "retries-without-budget",
    bug: "a retry waits for its backoff alone",
    without: [],
    planted: inStore(() => ({ spaceRetries: async () => [] })),
  },
  {
    name: "open-circuit-holds-nothing",
    bug: "what arrives for an open circuit is claimed",
    without: [],
    planted: inStore(() => ({ holdForCircuits: async () => [] })),
  },
];
