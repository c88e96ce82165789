import type { JobId } from "../machine/job.ts";
import { deliveryLimits } from "../machine/delivery-limits.ts";
import type { OutboxBatch } from "../machine/outbox.ts";
import type { Ports } from "../machine/ports.ts";

/** Batches that are being sent: what of each is unsent, and which of them another process has taken. */
export interface Keeping {
  /** The queue has this message. */
  accepted(outboxId: string, jobId: JobId): void;
  /**
   * The items whose batch is still this sender's. Asks the store first when that was not known for too long: after a stop of
   * the process, or while the database is away.
   */
  ownOf<T extends { readonly outboxId: string }>(items: readonly T[]): Promise<readonly T[]>;
  /** Keeps no more. @returns what is left to confirm, with the messages that must stay open. */
  end(): Promise<readonly { readonly id: string; readonly failed: readonly JobId[] }[]>;
}

interface Sending {
  readonly resent: number;
  readonly unsent: Set<JobId>;
  isLost: boolean;
}

/** Begins to keep these batches, once a second. */
export function keeping(ports: Pick<Ports, "store" | "clock" | "log">, outbox: readonly OutboxBatch[]): Keeping {
  const { outboxKeptMs, outboxOpenMs } = deliveryLimits;
  const { clock, store, log } = ports;
  const batches = new Map<string, Sending>();
  for (const { id, resent, messages } of outbox) {
    batches.set(id, { resent, unsent: new Set(messages.map(({ jobId }) => jobId)), isLost: false });
  }
  let keptMs = clock.elapsedMs();
  let hasEnded = false;
  let under: Promise<void> | null = null;
  let cancel = clock.after(outboxKeptMs, () => void keep());

  const write = async (): Promise<void> => {
    const askedMs = clock.elapsedMs();
    const asked = [...batches].map(([id, { resent, unsent }]) => ({ id, resent, unsent: [...unsent] }));
    try {
      const own = await store.keep(asked);
      keptMs = askedMs;
      for (const { id, unsent } of asked) {
        const batch = batches.get(id);
        if (unsent.length === 0) batches.delete(id);
        else if (batch !== undefined && !own.has(id)) batch.isLost = true;
      }
    } catch (error) {
      log.warn("outbox batches could not be kept; another process may send them again", {
        outbox: asked.length,
        error,
      });
    }
    if (!hasEnded) cancel = clock.after(outboxKeptMs, () => void keep());
  };
  const keep = async (): Promise<void> => {
    cancel();
    under ??= write().finally(() => (under = null));
    await under;
  };
  const isKnown = (): boolean => clock.elapsedMs() - keptMs < outboxOpenMs / 2;

  return {
    accepted(outboxId, jobId) {
      batches.get(outboxId)?.unsent.delete(jobId);
    },
    async ownOf(items) {
      const own = () => items.filter(({ outboxId }) => batches.get(outboxId)?.isLost === false);
      if (own().length > 0 && !isKnown()) {
        await keep();
        if (!isKnown()) for (const batch of batches.values()) batch.isLost = true;
      }
      return own();
    },
    async end() {
      hasEnded = true;
      cancel();
      await under;
      return [...batches].map(([id, { unsent }]) => ({ id, failed: [...unsent] }));
    },
  };
}
