import { once } from "node:events";
import type { Context } from "belfry";
import { z } from "zod";

/** What a client may ask for. Only `succeed` is what a client wants; the others are what happens to some. */
export const types = ["succeed", "flaky", "rejected", "hang", "die"] as const;

export const payload = z.object({
  type: z.enum(types),
  report: z.string().regex(/^[a-z0-9-]{1,60}$/, "must be small letters, digits and hyphens, at most 60"),
});

export type TaskPayload = z.output<typeof payload>;

type Beginning = (ctx: Context) => Promise<void>;

const nothing: Beginning = async () => {};

/**
 * What happens before the report is published. `flaky` and `rejected` begin like all others: the publisher refuses them,
 * for a while or for good.
 */
export const beginnings: Readonly<Record<TaskPayload["type"], Beginning>> = {
  succeed: nothing,
  flaky: nothing,
  rejected: nothing,
  /** Never comes back by itself: its timeout ends each try. */
  hang: async ({ signal }) => {
    if (!signal.aborted) await once(signal, "abort");
    signal.throwIfAborted();
  },
  /** Takes its whole process down, twice. The second time it is alone there, so only then it counts as its own failure. */
  die: async ({ attempt }) => {
    if (attempt < 3) process.kill(process.pid, "SIGKILL");
  },
};
