import { array, constantFrom, oneof, toStringMethod, tuple, type Arbitrary } from "fast-check";
import type { Ports } from "../../src/machine/ports.ts";
import type { TestStore } from "../support/looks.ts";
import { acquire } from "../../src/schedule/acquire.ts";
import type { Pair, Side } from "./pair.ts";
import { step, type Step } from "./step.ts";

const lockName = "pass";

/** What the lock store of one side answers, and what the lock needs beside it: the same on both sides, call for call. */
function portsOf(pair: Pair, store: TestStore, side: Side): Ports {
  const away = (): Promise<never> => Promise.reject(new Error("the lock store is away"));
  const { table, isAway } = pair.locks[side];
  const locks = { read: away, take: away, renew: away, release: away, raise: away, observe: away };
  let elapsedMs = 0;
  let ids = 0;
  return {
    store,
    locks: isAway ? locks : table,
    clock: {
      elapsedMs: () => elapsedMs,
      after: () => () => {},
      sleep: async (ms: number) => void (elapsedMs += ms),
    },
    random: { id: () => `${pair.locks[side].takings}.${(ids += 1)}`, next: () => 0.5 },
    log: silent,
    metrics: { add() {}, flush() {} },
    queue: { send: async () => [] },
  } as unknown as Ports;
}

const silent: Ports["log"] = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/** As a scheduler task does it: the lock, its fence, a step under it; it may die before it lets the lock go. */
const takeLock = tuple(constantFrom("a", "b"), constantFrom("releases it", "releases it", "dies")).map(
  ([owner, then]) =>
    step(`${owner} takes the lock, relays and ${then}`, (pair) =>
      pair.both(async (store, _id, side): Promise<unknown> => {
        pair.locks[side].takings += 1;
        const { signal } = new AbortController();
        const got = await acquire(portsOf(pair, store, side), { lockName, owner, onLockOutage: "postgres", signal });
        if (!("lock" in got)) return got;
        const relayed = await store.relay({ limit: 1, fence: got.fence });
        if (then !== "dies") await got.lock.release();
        return { token: got.fence.token, relayed };
      }),
    ),
);

const lockStore = constantFrom("goes away", "goes away", "is back", "is back", "is wiped", "is restored").map((what) =>
  step(`the lock store ${what}`, async (pair) => {
    for (const lock of Object.values(pair.locks)) {
      if (what === "goes away" || what === "is back") lock.isAway = what === "goes away";
      for (const [name, item] of lock.table.items) {
        const fence = Math.max(1, Math.floor(item.fence / 2));
        if (what === "is wiped") lock.table.items.delete(name);
        else if (what === "is restored") lock.table.items.set(name, { ...item, owner: null, fence });
      }
    }
  }),
);

/** Twice away in a row, with a taking in each outage and between the two. */
const twoOutages = tuple(takeLock, takeLock, takeLock, takeLock).map((takings) =>
  step(`TWO OUTAGES: ${takings.map((one) => one[toStringMethod]()).join(", ")}`, async (pair) => {
    for (const [at, taking] of takings.entries()) {
      for (const lock of Object.values(pair.locks)) lock.isAway = at % 2 === 0;
      await taking.run(pair);
      await pair.advance(at === 1 ? 25_000 : 1_000);
    }
  }),
);

/** What schedulers and their lock store go through. */
export const lockSteps: readonly Arbitrary<Step>[] = [takeLock, takeLock, lockStore, twoOutages];

/** The database is put back to where it was before some steps; clocks, sequences and the lock store are not. */
export const restored = (steps: readonly Arbitrary<Step>[]): Arbitrary<Step> =>
  array(oneof(...steps), { minLength: 1, maxLength: 4 }).map((undone) =>
    step(`RESTORED to before: ${undone.map((one) => one[toStringMethod]()).join("; ")}`, (pair) =>
      pair.restoring(async () => {
        for (const { run } of undone) await run(pair);
      }),
    ),
  );
