import { expect, test } from "vitest";
import type { CircuitRule } from "../../../src/machine/circuit-store.ts";
import type { JobId } from "../../../src/machine/job.ts";
import type { Store } from "../../../src/machine/store.ts";
import {
  claimOne,
  failure,
  insertMany,
  messageFor,
  minute,
  moves,
  outboxIds,
  settleOne,
  show,
  contract,
  type At,
  insertAlike,
} from "./fixture.ts";

const rule: CircuitRule = {
  name: "mail",
  pattern: "^(SMTP_[0-9][0-9][0-9])$",
  alike: false,
  share: 0.5,
  overMs: minute,
  minimum: 4,
  pauseMs: 5 * minute,
};
const kinds = [{ kind: "send-mail", circuit: "mail" }];
const worker = { worker: "worker-1" };

const fail = (store: Store, failed: number, well = 0) =>
  store.countForCircuits(
    [
      { name: "mail", code: "SMTP_421", ends: failed },
      { name: "mail", code: "", ends: well },
    ].filter(({ ends }) => ends > 0),
    worker,
  );

const holdAll = async (store: Store, ids: readonly JobId[]): Promise<readonly JobId[]> =>
  await store.holdForCircuits(await Promise.all(ids.map((id) => messageFor(store, id))), kinds);

async function dispatched(store: Store): Promise<readonly JobId[]> {
  return outboxIds(await store.relay({ limit: 1_000 }));
}

export const circuitContract = contract({
  circuits: ({ store, advance }: At) => {
    /** Open, with these jobs on hold, and its pause over. */
    const heldAndOver = async (count: number): Promise<readonly JobId[]> => {
      await fail(store, 4);
      await store.judgeCircuits([rule]);
      const ids = await insertAlike(store, count);
      await holdAll(store, ids);
      await advance(rule.pauseMs);
      return ids;
    };

    test("opens at the share of at least so many ends in the time, once, and names what failed most", async () => {
      expect(await store.judgeCircuits([rule])).toEqual([]);
      await fail(store, 3);
      expect(await store.judgeCircuits([rule])).toEqual([]);
      await advance(minute + 1_000);
      await fail(store, 2, 3);
      expect(await store.judgeCircuits([rule])).toEqual([]);
      await store.countForCircuits([{ name: "mail", code: "SMTP_500", ends: 1 }], { worker: "worker-2" });
      expect(await store.openCircuits()).toEqual([]);
      expect(await store.judgeCircuits([rule])).toMatchObject([
        { name: "mail", ended: 6, failed: 3, code: "SMTP_421" },
      ]);
      expect(await store.judgeCircuits([rule])).toEqual([]);
      expect(await store.openCircuits()).toEqual(["mail"]);
    });

    test("what arrives of its kinds is held without an attempt, and no resume of a lane releases it", async () => {
      const [held, other] = await insertMany(store, [{}, { kind: "other" }]);
      expect(await holdAll(store, [held])).toEqual([]);
      await fail(store, 4);
      await store.judgeCircuits([rule]);
      const message = await messageFor(store, held);
      expect(await holdAll(store, [held, other])).toEqual([held]);
      expect(await store.holdForCircuits([message], kinds)).toEqual([]);
      expect((await show(store, held)).job).toMatchObject({ state: "PENDING", hold: "paused", attempt: 0 });
      expect(await moves(store, held)).toContain("QUEUED>PENDING");
      expect(await store.unholdPaused("default", 10)).toBe(0);
      await store.pauseLane("default", null);
      expect(await store.unholdOpen(10)).toBe(0);
      expect(await store.releaseForCircuits()).toBe(0);
      expect(await dispatched(store)).toEqual([]);
      expect(await claimOne(store, other)).toMatchObject({ state: "RUNNING" });
    });

    test("after the pause one job is let through; its success closes, and the others follow in order", async () => {
      const [probe, ...others] = await heldAndOver(40);
      if (probe === undefined) throw new Error("jobs were held");
      expect(await store.probeCircuits([rule])).toEqual([{ name: "mail", move: "probe" }]);
      expect(await store.probeCircuits([rule])).toEqual([]);
      expect(await dispatched(store)).toEqual([probe]);
      expect(await holdAll(store, [probe])).toEqual([]);
      const job = await claimOne(store, probe);
      expect(await store.probeCircuits([rule])).toEqual([]);
      await settleOne(store, job);
      expect(await store.probeCircuits([rule])).toEqual([{ name: "mail", move: "close" }]);
      expect(await store.openCircuits()).toEqual([]);
      expect(await store.judgeCircuits([rule])).toEqual([]);
      expect(await store.releaseForCircuits()).toBe(10);
      expect(await dispatched(store)).toEqual(others.slice(0, 10));
      expect([await store.releaseForCircuits(), await store.releaseForCircuits()]).toEqual([20, 9]);
    });

    test("a probe that fails by a code of the circuit begins the next pause, and is held as the others are", async () => {
      const [probe] = await heldAndOver(2);
      if (probe === undefined) throw new Error("jobs were held");
      await store.probeCircuits([rule]);
      await dispatched(store);
      await settleOne(store, await claimOne(store, probe), failure);
      await dispatched(store);
      expect(await holdAll(store, [probe])).toEqual([probe]);
      expect(await store.probeCircuits([rule])).toEqual([{ name: "mail", move: "open" }]);
      expect(await store.probeCircuits([rule])).toEqual([]);
      await advance(rule.pauseMs);
      expect(await store.probeCircuits([rule])).toEqual([{ name: "mail", move: "probe" }]);
    });

    test("a probe that is released stays the probe; one that fails otherwise or is canceled is followed by the next", async () => {
      const [first, second] = await heldAndOver(3);
      if (first === undefined || second === undefined) throw new Error("jobs were held");
      await store.probeCircuits([rule]);
      await dispatched(store);
      const back = { to: "QUEUED", reason: "stopped", interruptions: 1 } as const;
      await settleOne(store, await claimOne(store, first), back);
      expect(await store.probeCircuits([rule])).toEqual([]);
      expect(await holdAll(store, [first])).toEqual([]);
      await settleOne(store, await claimOne(store, first), { ...failure, to: "FAILED", errorCode: "NO_ADDRESS" });
      expect(await store.probeCircuits([rule])).toEqual([{ name: "mail", move: "probe" }]);
      expect(await dispatched(store)).toEqual([second]);
      await store.cancel([second]);
      expect(await store.probeCircuits([rule])).toEqual([{ name: "mail", move: "probe" }]);
    });

    test("of failures that must be alike only those of one code count", async () => {
      const alike = { ...rule, alike: true, share: 1 };
      await fail(store, 4);
      await store.countForCircuits([{ name: "mail", code: "SMTP_500", ends: 1 }], worker);
      expect(await store.judgeCircuits([alike])).toEqual([]);
      expect(await store.judgeCircuits([{ ...alike, share: 0.8 }])).toMatchObject([
        { ended: 5, failed: 4, code: "SMTP_421" },
      ]);
    });

    test("a kind that worked until now is parked by what came after its last success, if all must fail alike", async () => {
      const alike = { ...rule, alike: true, share: 1 };
      await fail(store, 3, 100);
      await advance(2_000);
      await fail(store, 3);
      expect(await store.judgeCircuits([alike])).toEqual([]);
      await fail(store, 1);
      expect(await store.judgeCircuits([alike])).toMatchObject([{ ended: 4, failed: 4 }]);
    });

    test("retries get times apart, by the first attempts of the last minute, each once; a probe pass keeps their counts", async () => {
      const budget = { name: "retry:mail", n: 2, share: 0.5 };
      const budgetRule = { ...rule, name: "retry:mail" };
      expect(await store.spaceRetries([budget])).toEqual([{ name: "retry:mail", endsMs: 12_000, everyMs: 6_000 }]);
      await store.countForCircuits([{ name: "retry:mail", code: "", ends: 120 }], worker);
      await store.probeCircuits([budgetRule]);
      expect(await store.spaceRetries([budget])).toEqual([{ name: "retry:mail", endsMs: 14_000, everyMs: 1_000 }]);
      await advance(61_000);
      expect(await store.spaceRetries([{ ...budget, n: 1 }])).toEqual([
        { name: "retry:mail", endsMs: 6_000, everyMs: 6_000 },
      ]);
      expect(await store.openCircuits()).toEqual([]);
    });

    test("a circuit that no definition names is closed", async () => {
      const [held] = await heldAndOver(1);
      expect(await store.probeCircuits([])).toEqual([{ name: "mail", move: "close" }]);
      expect(await store.releaseForCircuits()).toBe(1);
      expect(await dispatched(store)).toEqual([held]);
    });
  },
});
