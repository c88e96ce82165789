import { deliveryLimits } from "../../../src/machine/delivery-limits.ts";
import type { OutboxBatch } from "../../../src/machine/outbox.ts";
import { byDue } from "./outbox.ts";
import type { JobRow, SlotRow } from "./rows.ts";
import { groupOf, isFree, keepSlot, refusalOf, slotsOf } from "./slots.ts";
import type { Tables } from "./tables.ts";

/** After slots became free: of the held rows those that get all their slots, the earliest due first; the others wait for what they lack. */
export function wake(t: Tables, options: { slotKeys: readonly string[] | "all"; limit: number }): OutboxBatch[] {
  const woken: JobRow[] = [];
  let keys: readonly string[] = options.slotKeys === "all" ? [...byKey(t).keys()].toSorted() : options.slotKeys;
  for (let round = 1; round <= deliveryLimits.wakeRoundsMax && woken.length < options.limit; round += 1) {
    const more = round === 1 ? 0 : deliveryLimits.wakeLookedMax;
    const moved = wakeRound(t, keys, { limit: options.limit - woken.length, more, woken });
    if (moved.length === 0) break;
    keys = moved;
  }
  return t.dispatch(woken);
}

const byKey = (t: Tables): Map<string, JobRow[]> =>
  Map.groupBy(
    t
      .inStates("PENDING", "RETRY_WAIT")
      .filter((row) => row.hold === "slot" && row.heldOn?.startsWith("turn:") !== true),
    (row) => row.heldOn ?? "",
  );

function wakeRound(
  t: Tables,
  keys: readonly string[],
  { limit, more, woken }: { limit: number; more: number; woken: JobRow[] },
): string[] {
  const held = byKey(t);
  const room = new Map<string, { spare: SlotRow[]; left: number }>();
  const roomOf = (key: string) => {
    const all = slotsOf(t, key);
    const { size } = groupOf(t, key);
    const spare = all
      .filter((slot) => isFree(t, slot, deliveryLimits.rateAheadMs))
      .toSorted((a, b) => (a.freeFrom ?? 0) - (b.freeFrom ?? 0) || a.n - b.n);
    const found = room.get(key) ?? { spare, left: spare.length + size - all.filter((slot) => slot.n <= size).length };
    room.set(key, found);
    return found;
  };
  const candidates = [...new Set(keys)]
    .filter((key) => held.has(key))
    .flatMap((key) => {
      const free = roomOf(key).left;
      return (held.get(key) ?? []).toSorted(byDue).slice(0, free > 0 ? free + more : 0);
    })
    .slice(0, limit);
  const isBehind = (row: JobRow, key: string): boolean =>
    (held.get(key) ?? []).some((other) => !candidates.includes(other) && byDue(other, row) < 0);
  const moved: string[] = [];
  for (const row of candidates.toSorted(byDue)) {
    const isFirm = (key: string): boolean => key === row.heldOn || refusalOf(t, row, key) === "hold";
    const lacking = row.slotKeys.filter(
      (key) => isFirm(key) && (roomOf(key).left <= 0 || (key !== row.heldOn && isBehind(row, key))),
    );
    const [key] = lacking;
    if (key !== undefined) {
      if (row.heldOn === null || lacking.includes(row.heldOn)) continue;
      moved.push(row.heldOn, key);
      t.change(row, { heldOn: key });
      continue;
    }
    const units = row.slotKeys.flatMap((each) => {
      const of = roomOf(each);
      of.left -= 1;
      return of.spare.shift() ?? [];
    });
    const backAt = Math.max(...units.map(({ freeFrom }) => freeFrom ?? 0));
    const queued = t.queue(row, backAt > t.now() ? { dueAt: Math.max(row.dueAt, backAt) } : {});
    for (const slot of units) keepSlot(t, slot, queued);
    woken.push(queued);
  }
  return [...new Set(moved)];
}
