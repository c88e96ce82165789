import type { JobId } from "../machine/job.ts";
import { deliveryLimits } from "../machine/delivery-limits.ts";
import type { Fence } from "../machine/fence.ts";
import type { OutboxBatch } from "../machine/outbox.ts";
import type { Store } from "../machine/store.ts";
import { outboxOf } from "./outbox.ts";
import type { Session } from "./session.ts";
import { columns } from "./statement.ts";
import { confirmWhole, keepBatches, relayDue, reopenOutbox } from "./sql/relay.ts";
import * as requeue from "./sql/requeue.ts";
import { writePlace } from "./sql/pass-place.ts";
import type { DispatchedRow } from "./sql/dispatch.ts";
import { heldKeys, waitedFor, wakeKeys } from "./sql/wake.ts";

const { overtakenSampleMax, overtakenMs, overtakenEventsMax, batchesReadMax } = deliveryLimits;
const overtakenValues = [overtakenSampleMax, overtakenMs, overtakenEventsMax, batchesReadMax];

export function relayStore(session: Session) {
  /** `resent` null: only takes out what was sent. */
  const keep = async (
    batches: readonly { id: string; resent: number | null; unsent: readonly JobId[] }[],
  ): Promise<string[]> => {
    if (batches.length === 0) return [];
    const rows = await session.run(keepBatches, [
      ...columns(batches, "id", "resent"),
      batches.map(({ unsent }) => `{${unsent.join(",")}}`),
    ]);
    return rows.map(({ id }) => id);
  };
  return {
    async relay({ limit, lane, fence }) {
      return outboxOf(await session.fenced(fence, relayDue, [session.dispatchWindowMs, limit, lane ?? null]));
    },
    async confirm(sent) {
      const whole = sent.filter((each) => each.failed.length === 0).map((each) => each.id);
      if (whole.length > 0) await session.run(confirmWhole, [whole]);
      const partly = sent.filter((each) => each.failed.length > 0);
      await keep(partly.map(({ id, failed }) => ({ id, resent: null, unsent: failed })));
    },
    async keep(batches) {
      return new Set(await keep(batches));
    },
    async reopen({ olderThanMs, limit, messagesMax, lane, fence }) {
      return outboxOf(await session.fenced(fence, reopenOutbox, [olderThanMs, limit, lane ?? null, messagesMax]));
    },
    async requeueLost({ lane, evidence, olderThanMs, limit, fence }) {
      const values = [lane, olderThanMs, limit];
      const rows =
        evidence === "queue-empty"
          ? await session.fenced(fence, requeue.requeueUnqueued, [...values, batchesReadMax])
          : await session.fenced(fence, requeue.requeueOvertaken, [...values, ...overtakenValues]);
      return rows.length;
    },
    queueObservations: ({ maxAgeMs }) => session.run(requeue.readObservations, [maxAgeMs]),
    async saveQueueObservations(observations) {
      if (observations.length === 0) return;
      await session.run(requeue.writeObservations, columns(observations, "lane", "emptyMs"));
    },
    async countNotYetDue({ lane, sinceMs, limit }) {
      const [row] = await session.run(requeue.countNotYetDue, [lane, sinceMs, deliveryLimits.queueDelayMsMax, limit]);
      return row?.n ?? 0;
    },
    async wake({ slotKeys, limit, fence }) {
      if (slotKeys === "all") return await wakeNext(session, limit, fence);
      const keys = fence === undefined ? await heldOf(session, slotKeys) : slotKeys;
      return keys.length === 0 && fence === undefined
        ? []
        : outboxOf(await wakeRounds(session, keys, { limit, fence }));
    },
  } satisfies Partial<Store>;
}

async function heldOf(session: Session, keys: readonly string[]): Promise<readonly string[]> {
  return keys.length === 0 ? [] : ((await session.run(waitedFor, [keys]))[0]?.keys ?? []);
}

/** One window of keys. The next pass goes on behind it, unless this one had no room for all of its jobs. */
async function wakeNext(session: Session, limit: number, fence: Fence | undefined): Promise<readonly OutboxBatch[]> {
  const { wakeKeysMax } = deliveryLimits;
  const [{ keys, behind } = { keys: [], behind: "" }] = await session.run(heldKeys, [wakeKeysMax]);
  // Without keys `wake` would cost as much as a claim and find nothing; the fence is checked all the same.
  const rows: readonly DispatchedRow[] =
    keys.length === 0
      ? await session.transaction(async () => [], fence)
      : await wakeRounds(session, keys, { limit, fence });
  const next = rows.length >= limit ? behind : keys.length < wakeKeysMax ? "" : (keys.at(-1) ?? "");
  if (next !== behind) await session.fenced(fence, writePlace, ["wake", next]);
  return outboxOf(rows);
}

/**
 * Jobs that lacked another key wait for that now, so the keys that they left and those that they came to are looked at again, in a
 * snapshot that has the move. What is left after some rounds the next pass finds.
 */
async function wakeRounds(
  session: Session,
  keys: readonly string[],
  { limit, fence }: { readonly limit: number; readonly fence: Fence | undefined },
): Promise<DispatchedRow[]> {
  const rows: DispatchedRow[] = [];
  let asked: readonly string[] = keys;
  for (let round = 1; round <= deliveryLimits.wakeRoundsMax && rows.length < limit; round += 1) {
    const more = round === 1 ? 0 : deliveryLimits.wakeLookedMax;
    const found = await session.fenced(fence, wakeKeys, [asked, limit - rows.length, more, deliveryLimits.rateAheadMs]);
    const moved = found.filter((row) => row.id === null);
    rows.push(...found.filter((row) => row.id !== null));
    if (moved.length === 0) break;
    asked = [...new Set(moved.flatMap(({ own, key }) => [own, key]))];
  }
  return rows;
}
