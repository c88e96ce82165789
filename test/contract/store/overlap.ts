import { describe, expect, test } from "vitest";
import { contractLimits } from "../../../src/machine/contract-limits.ts";
import type { JobId } from "../../../src/machine/job.ts";
import { claimOne, eachTest, insertMany, type OpenStore, running, settleOne } from "./fixture.ts";
import { claimAll, wakeNext } from "./slot-order.ts";

const queueAll = { key: "overlap:s", size: 1, onRefusal: "hold", reason: "overlap" } as const;
const ofSchedule = { slotKeys: ["overlap:s"] };

export function overlapContract(open: OpenStore): void {
  describe("overlap: queue-all", () => {
    queueing(open);
  });
}

function queueing(open: OpenStore): void {
  const at = eachTest(open);

  test("queue-all holds each that is refused, and they run in the order in which they were due", async () => {
    const { store } = at();
    await store.installSlots([queueAll]);
    let runs = await running(store, ofSchedule);
    const [first = "", second = "", third = ""] = await insertMany(store, [ofSchedule, ofSchedule, ofSchedule]);
    expect(await claimAll(store, [third, first, second] as JobId[])).toEqual(["PENDING", "PENDING", "PENDING"]);
    for (const id of [first, second, third]) {
      await settleOne(store, runs);
      runs = await wakeNext(store);
      expect(runs.jobId).toBe(id);
    }
  });

  test("of so many that wait under queue-all the next is SKIPPED, within a batch too", async () => {
    const { store } = at();
    await store.installSlots([queueAll]);
    await running(store, ofSchedule);
    const { overlapWaitingMax: most } = contractLimits;
    const ids = await insertMany(
      store,
      Array.from({ length: most + 2 }, () => ofSchedule),
    );
    await claimAll(store, ids.slice(0, most - 1));
    expect(await claimAll(store, ids.slice(most - 1, most + 1))).toEqual(["PENDING", "SKIPPED"]);
    expect(await claimOne(store, ids[most + 1] ?? ("" as JobId))).toMatchObject({
      state: "SKIPPED",
      reason: "overlap",
    });
  });
}
