import type { JobId } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { deliveryLimits } from "../machine/delivery-limits.ts";
import type { OutboxBatch, OutMessage } from "../machine/outbox.ts";
import type { Ports } from "../machine/ports.ts";
import { laneSpan } from "./spans.ts";

type SendPorts = Pick<Ports, "store" | "queue" | "clock" | "log" | "crashPoint" | "tracing">;

interface Outgoing {
  readonly outboxId: string;
  readonly message: OutMessage;
}

/** At most ten messages of one lane; they may come from several outbox batches. */
interface OutgoingCall {
  readonly lane: string;
  readonly items: Outgoing[];
}

/**
 * Sends committed outbox batches, ten messages a call, and confirms what the queue accepted; sending that takes longer than
 * a second keeps its batches from other senders.
 * Never throws: what is not confirmed stays open, and the next worker or pass sends it again. After a few calls without an
 * answer a lane is not called again.
 * @returns how many messages the queue accepted.
 */
export async function sendOutbox(ports: SendPorts, outbox: readonly OutboxBatch[]): Promise<number> {
  if (outbox.length === 0) return 0;
  const kept = keeping(ports, outbox);
  const calls = inCalls(outbox);
  const unanswered = new Map<string, number>();
  let accepted = 0;
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let call = calls[next++]; call !== undefined; call = calls[next++]) {
      if (isAway(unanswered, call.lane)) continue;
      for (const { outboxId, message } of await sendCall(ports, call, { kept, unanswered })) {
        kept.accepted(outboxId, message.jobId);
        accepted += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(deliveryLimits.sendConcurrencyMax, calls.length) }, sender));
  await ports.crashPoint?.("relay.sent");
  const unsent = await kept.end();
  await ports.store.confirm(unsent).catch((error: unknown) => {
    ports.log.warn("confirm failed; the messages will be sent twice", { outbox: unsent.length, error });
  });
  await ports.crashPoint?.("relay.confirmed");
  return accepted;
}

function inCalls(outbox: readonly OutboxBatch[]): OutgoingCall[] {
  const open = new Map<string, OutgoingCall>();
  const calls: OutgoingCall[] = [];
  for (const outboxBatch of outbox) {
    for (const message of outboxBatch.messages) {
      let call = open.get(outboxBatch.lane);
      if (call === undefined || call.items.length === contractLimits.sendBatchMax) {
        call = { lane: outboxBatch.lane, items: [] };
        open.set(outboxBatch.lane, call);
        calls.push(call);
      }
      call.items.push({ outboxId: outboxBatch.id, message });
    }
  }
  return calls;
}

/** A call that times out takes many seconds; the rest of the lane stays open, so that the caller does not wait for minutes. */
const isAway = (unanswered: ReadonlyMap<string, number>, lane: string): boolean =>
  callsWithout(unanswered, lane) >= deliveryLimits.sendConcurrencyMax;

const callsWithout = (unanswered: ReadonlyMap<string, number>, lane: string): number => unanswered.get(lane) ?? 0;

/** @returns what the queue accepted. What it refused must stay open, as what is unknown because the call failed. */
async function sendCall(
  ports: SendPorts,
  { lane, items }: OutgoingCall,
  { kept, unanswered }: { readonly kept: Keeping; readonly unanswered: Map<string, number> },
): Promise<readonly Outgoing[]> {
  const own = await kept.ownOf(items);
  if (own.length === 0) return [];
  try {
    const messages = own.map((item) => item.message);
    const send = () => ports.queue.send(lane, messages);
    const { failed } = await laneSpan(ports.tracing, "dispatch", { lane, messages: own.length }, send);
    return own.filter((_, index) => !failed.includes(index));
  } catch (error) {
    unanswered.set(lane, callsWithout(unanswered, lane) + 1);
    ports.log.warn("send failed; the outbox batch stays open", { lane, messages: own.length, error });
    return [];
  }
}

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
