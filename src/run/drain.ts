import type { Registry } from "../define/definition.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { deliveryLimits } from "../machine/delivery-limits.ts";
import { afterCommit } from "./after-commit.ts";
import { type Arrived, decodeRecords, type QueueRecord } from "./message.ts";
import type { Ports } from "../machine/ports.ts";
import { movedHook } from "./settled-hook.ts";

/**
 * Consumes the dead-letter queue. The row decides: the message of a row that has moved on is dropped; a row that still
 * waits for it gets a new message, and is FAILED `undeliverable` after the third dead letter.
 * @returns the messages to give back, because their outcome is unknown.
 */
export async function drain(
  ports: Pick<Ports, "store" | "queue" | "clock" | "log" | "metrics" | "crashPoint">,
  registry: Registry,
  records: readonly QueueRecord[],
  { lane }: { readonly lane: string },
): Promise<{ failed: readonly string[] }> {
  const { messages, unreadable } = decodeRecords(records);
  try {
    if (unreadable.length > 0) {
      await ports.store.quarantine(
        lane,
        unreadable.map(({ body }) => body),
      );
      ports.metrics.add("message.unreadable", unreadable.length);
    }
    if (messages.length > 0) await settleUndelivered(ports, registry, messages);
    return { failed: [] };
  } catch (error) {
    ports.log.error("dead letters could not be drained; they are given back", {
      lane,
      messages: records.length,
      error,
    });
    return { failed: records.map((record) => record.messageId) };
  }
}

async function settleUndelivered(
  ports: Pick<Ports, "store" | "queue" | "clock" | "log" | "metrics" | "crashPoint">,
  registry: Registry,
  arrived: readonly Arrived[],
): Promise<void> {
  const messages = arrived.map(({ message }) => message);
  const moved = await ports.store.returnUndelivered(messages, {
    undeliveredMax: contractLimits.undeliveredMax,
    backoffMs: deliveryLimits.deadLetterBackoffMs,
    inSameTransaction: movedHook(ports, registry, "FAILED"),
  });
  for (const row of moved.rows) {
    ports.log.warn("a message died unclaimed", { job: row.jobId, kind: row.kind, state: row.state });
    ports.metrics.add("job.undelivered", 1, "Count", { job: row.kind });
  }
  await afterCommit(ports, moved.aftermath);
}
