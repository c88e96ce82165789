import type { JobId } from "../job/job.ts";
import { contractLimits } from "../job/contract-limits.ts";
import { deliveryLimits } from "../ports/delivery-limits.ts";
import type { OutboxBatch, OutMessage, Ports } from "../ports/ports.ts";

type SendPorts = Pick<Ports, "store" | "queue" | "log" | "crashPoint">;

interface Outgoing {
  readonly outboxId: string;
  readonly message: OutMessage;
}

/**
 * Sends committed outbox batches, ten messages a call, and confirms what the queue accepted.
 * Never throws: an unconfirmed batch stays open, and the next worker or pass sends it again. After a few calls without an
 * answer a lane is not called again.
 * @returns how many messages the queue accepted.
 */
export async function sendOutbox(ports: SendPorts, outbox: readonly OutboxBatch[]): Promise<number> {
  if (outbox.length === 0) return 0;
  const failed = new Map<string, JobId[]>(outbox.map((batch) => [batch.id, []]));
  const batches = inBatches(outbox);
  const unanswered = new Map<string, number>();
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let batch = batches[next++]; batch !== undefined; batch = batches[next++]) {
      const left = isAway(unanswered, batch.lane) ? batch.items : await sendBatch(ports, batch, unanswered);
      for (const refused of left) failed.get(refused.outboxId)?.push(refused.message.jobId);
    }
  };
  await Promise.all(Array.from({ length: Math.min(deliveryLimits.sendConcurrencyMax, batches.length) }, sender));
  await ports.crashPoint("relay.sent");
  await confirm(ports, failed);
  await ports.crashPoint("relay.confirmed");
  const offered = batches.reduce((sum, batch) => sum + batch.items.length, 0);
  return offered - [...failed.values()].reduce((sum, ids) => sum + ids.length, 0);
}

function inBatches(outbox: readonly OutboxBatch[]): { lane: string; items: Outgoing[] }[] {
  const open = new Map<string, { lane: string; items: Outgoing[] }>();
  const batches: { lane: string; items: Outgoing[] }[] = [];
  for (const outboxBatch of outbox) {
    for (const message of outboxBatch.messages) {
      let batch = open.get(outboxBatch.lane);
      if (batch === undefined || batch.items.length === contractLimits.sendBatchMax) {
        batch = { lane: outboxBatch.lane, items: [] };
        open.set(outboxBatch.lane, batch);
        batches.push(batch);
      }
      batch.items.push({ outboxId: outboxBatch.id, message });
    }
  }
  return batches;
}

/** A call that times out takes many seconds; the rest of the lane stays open, so that the caller does not wait for minutes. */
const isAway = (unanswered: ReadonlyMap<string, number>, lane: string): boolean =>
  callsWithout(unanswered, lane) >= deliveryLimits.sendConcurrencyMax;

const callsWithout = (unanswered: ReadonlyMap<string, number>, lane: string): number => unanswered.get(lane) ?? 0;

/** @returns what must stay open: refused by the queue, or unknown because the call failed. */
async function sendBatch(
  ports: SendPorts,
  batch: { lane: string; items: Outgoing[] },
  unanswered: Map<string, number>,
): Promise<readonly Outgoing[]> {
  try {
    const { failed } = await ports.queue.send(
      batch.lane,
      batch.items.map((item) => item.message),
    );
    return failed.flatMap((index) => batch.items[index] ?? []);
  } catch (error) {
    unanswered.set(batch.lane, callsWithout(unanswered, batch.lane) + 1);
    ports.log.warn("send failed; the outbox batch stays open", {
      lane: batch.lane,
      messages: batch.items.length,
      error,
    });
    return batch.items;
  }
}

async function confirm(ports: SendPorts, failed: ReadonlyMap<string, readonly JobId[]>): Promise<void> {
  try {
    await ports.store.confirm([...failed].map(([id, ids]) => ({ id, failed: ids })));
  } catch (error) {
    ports.log.warn("confirm failed; the messages will be sent twice", { outbox: failed.size, error });
  }
}
