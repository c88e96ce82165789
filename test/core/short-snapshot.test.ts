import fc from "fast-check";
import { expect, test } from "vitest";
import { formatCursor, parseCursor, shortSnapshot, snapshotEnd, snapshotOpen } from "../../src/insight/event-stream.ts";
import { streamLimits } from "../../src/insight/stream-limits.ts";

const sees = (snapshot: string, xid: number): boolean =>
  xid < Number(snapshotEnd(snapshot)) && !snapshotOpen(snapshot).includes(String(xid));

/** A day of a server: each number begins so many transactions, then ends so many of those that are open, then looks. */
const day = fc.array(
  fc.record({
    begun: fc.nat(2 * streamLimits.streamOpenMax),
    ended: fc.nat(streamLimits.streamOpenMax),
    seed: fc.nat(),
  }),
  { maxLength: 12 },
);

test("of looks by short snapshots each transaction comes in exactly one, and the cursors are valid", () => {
  fc.assert(
    fc.property(day, (steps) => {
      const open = new Set<number>();
      const times = new Map<number, number>();
      let next = 1_000;
      let from = shortSnapshot(`${next}:${next}:`);
      const look = (): void => {
        const sorted = [...open].toSorted((a, b) => a - b);
        const now = shortSnapshot(`${sorted[0] ?? next}:${next}:${sorted.join(",")}`);
        for (let xid = 1_000; xid < next; xid += 1)
          if (sees(now, xid) && !sees(from, xid)) times.set(xid, (times.get(xid) ?? 0) + 1);
        expect(
          parseCursor(
            formatCursor({ epoch: "00000000", from: { snapshot: now, next: String(next), last: "0" }, page: null }),
          ),
        ).not.toBeNull();
        expect(Number(snapshotEnd(now))).toBeGreaterThanOrEqual(Number(snapshotEnd(from)));
        from = now;
      };
      for (const { begun, ended, seed } of steps) {
        for (let n = 0; n < begun; n += 1) open.add(next++);
        for (let n = 0; n < ended && open.size > 0; n += 1) open.delete([...open][(seed + n * 7) % open.size] ?? 0);
        look();
      }
      open.clear();
      look();
      expect([...times.values()].every((count) => count === 1)).toBe(true);
      expect(times.size).toBe(next - 1_000);
    }),
    { numRuns: 25 },
  );
});
