import type { JobId } from "../job/job.ts";
import { contractLimits } from "../job/contract-limits.ts";
import { deliveryLimits } from "../ports/delivery-limits.ts";
import type { OutboxBatch, OutMessage, Ports } from "../ports/ports.ts";

type SendPorts = Pick<Ports, "store" | "queue" | "log" | "crashPoint">;

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
 * Sends committed outbox batches, ten messages a call, and confirms what the queue accepted.
 * Never throws: an unconfirmed batch stays open, and the next worker or pass sends it again. After a few calls without an
 * answer a lane is not called again.
 * @returns how many messages the queue accepted.
 */
export async function sendOutbox(ports: SendPorts, outbox: readonly OutboxBatch[]): Promise<number> {
  if (outbox.length === 0) return 0;
  const unsent = new Map<string, JobId[]>(outbox.map((batch) => [batch.id, []]));
  const calls = inCalls(outbox);
  const unanswered = new Map<string, number>();
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let call = calls[next++]; call !== undefined; call = calls[next++]) {
      const left = isAway(unanswered, call.lane) ? call.items : await sendCall(ports, call, unanswered);
      for (const refused of left) unsent.get(refused.outboxId)?.push(refused.message.jobId);
    }
  };
  await Promise.all(Array.from({ length: Math.min(deliveryLimits.sendConcurrencyMax, calls.length) }, sender));
  await ports.crashPoint("relay.sent");
  await confirm(ports, unsent);
  await ports.crashPoint("relay.confirmed");
  const offered = calls.reduce((sum, { items }) => sum + items.length, 0);
  return offered - [...unsent.values()].reduce((sum, ids) => sum + ids.length, 0);
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

/** @returns what must stay open: refused by the queue, or unknown because the call failed. */
async function sendCall(
  ports: SendPorts,
  call: OutgoingCall,
  unanswered: Map<string, number>,
): Promise<readonly Outgoing[]> {
  try {
    const { failed } = await ports.queue.send(
      call.lane,
      call.items.map((item) => item.message),
    );
    return failed.flatMap((index) => call.items[index] ?? []);
  } catch (error) {
    unanswered.set(call.lane, callsWithout(unanswered, call.lane) + 1);
    ports.log.warn("send failed; the outbox batch stays open", {
      lane: call.lane,
      messages: call.items.length,
      error,
    });
    return call.items;
  }
}

async function confirm(ports: SendPorts, unsent: ReadonlyMap<string, readonly JobId[]>): Promise<void> {
  try {
    await ports.store.confirm([...unsent].map(([id, ids]) => ({ id, failed: ids })));
  } catch (error) {
    ports.log.warn("confirm failed; the messages will be sent twice", { outbox: unsent.size, error });
  }
}
