import { array, assert, asyncProperty, oneof } from "fast-check";
import { describe, expect, test } from "vitest";
import { freshDatabase } from "../support/database.ts";
import { referenceStore } from "../support/reference-store.ts";
import { aJob, failure, dispatchWindowMs, settleOptions, settlementOf } from "../contract/store/fixture.ts";
import { jobSteps } from "./job-commands.ts";
import { Pair } from "./pair.ts";
import { passSteps, slotGroups } from "./pass-commands.ts";
import type { Step } from "./step.ts";

const startMs = Date.UTC(2026, 0, 31, 23, 59, 30);
const sequence = array(oneof(...jobSteps, ...passSteps), { minLength: 5, maxLength: 60, size: "max" });

/** A pair of empty stores whose clocks stand still until the test moves both. */
async function openPair(): Promise<{ pair: Pair; close: () => Promise<void> }> {
  let now = startMs;
  const { store, pool, clock, close } = await freshDatabase();
  await pool.query("update belfry.test_clock set origin = $1, shift = interval '0', rate = 0", [new Date(startMs)]);
  const pair = new Pair(
    referenceStore(() => now),
    store,
    async (ms) => {
      now += ms;
      await clock.advance(ms);
    },
  );
  await pair.both((one) => one.installSlots(slotGroups(2)));
  return { pair, close };
}

/** Everything that can be read, on both sides. */
async function expectEqualTables(pair: Pair): Promise<void> {
  await pair.both((store) => store.counts());
  await pair.both((store) => store.jobs({ limit: 500 }));
  for (const twin of pair.jobs) {
    await pair.both(async (store, id) => {
      const shown = await store.job(id(twin));
      return shown === null ? null : { ...shown, history: shown.history.map(({ id: _id, ...move }) => move) };
    });
  }
  await pair.both((store) => store.schedules());
  await pair.both((store) => store.occurrences("every-minute", 100));
  await pair.both((store) => store.reopen({ olderThanMs: 0, limit: 100 }));
  await pair.both((store) => store.wake({ slotKeys: "all", limit: 100 }));
}

function raise(): never {
  throw new Error("no job was inserted");
}

async function runBoth(steps: readonly Step[]): Promise<void> {
  const { pair, close } = await openPair();
  try {
    for (const { run } of steps) await run(pair);
    await expectEqualTables(pair);
  } finally {
    await close();
  }
}

describe("Postgres and the reference store", () => {
  test("forget the progress of an earlier try when a claim refuses the next one", async () => {
    const { pair, close } = await openPair();
    const worker = { worker: "worker-1", alone: false } as const;
    const claim = async (generation: number): Promise<void> =>
      pair.both((store, id) => store.claim([{ jobId: id(pair.jobs[0] ?? raise()), generation, trace: "t" }], worker));
    const soon = aJob({ payload: pair.mark(), expiresAt: startMs + 60_000 });
    await pair.both((store) => store.insert([soon], { dispatchWindowMs }));
    await claim(1);
    await pair.both((store, id) =>
      store.heartbeat([{ jobId: id(pair.jobs[0] ?? raise()), attempt: 1, progress: 0.5 }], "worker-1"),
    );
    await pair.both((store, id) =>
      store.settle([settlementOf({ jobId: id(pair.jobs[0] ?? raise()), attempt: 1 }, failure)], settleOptions),
    );
    await pair.advance(60_000);
    await claim(2);
    await expectEqualTables(pair);
    expect((await pair.real.job(pair.jobs[0]?.real ?? raise()))?.job).toMatchObject({
      state: "SKIPPED",
      progress: null,
    });
    await close();
  });

  test("answer the same random sequence of calls alike, and end with equal tables", async () => {
    let runs = 0;
    const property = asyncProperty(sequence, async (steps) => {
      runs += 1;
      await runBoth(steps);
    });
    await assert(property, { seed: 20_260_131, numRuns: 400, interruptAfterTimeLimit: 12_000 });
    expect(runs).toBeGreaterThan(10);
  }, 60_000);
});
