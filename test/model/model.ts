import { array, assert, asyncProperty, oneof, type Arbitrary } from "fast-check";
import type { Database } from "../../src/insight/sql-query.ts";
import { isFinal } from "../../src/machine/state.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { referenceStore } from "../support/reference-store.ts";
import { lockSteps, restored } from "./fault-commands.ts";
import { jobSteps } from "./job-commands.ts";
import { expectEqualObjectives } from "./objectives.ts";
import { Pair } from "./pair.ts";
import { passSteps, slotGroups } from "./pass-commands.ts";
import { keepRows } from "./restore.ts";
import { rowSteps } from "./row-commands.ts";
import { runSteps } from "./run-commands.ts";
import { scheduleIds, scheduleSteps } from "./schedule-commands.ts";
import type { Step } from "./step.ts";
import { openTwo, type TwoConnections } from "./two-connections.ts";

export const startMs = Date.UTC(2026, 0, 31, 23, 59, 30);
const plainSteps = [...jobSteps, ...runSteps, ...runSteps, ...rowSteps, ...scheduleSteps, ...passSteps, ...lockSteps];
export const anyStep = oneof(...plainSteps, restored(plainSteps));
const oneAtATime = array(anyStep, { minLength: 5, maxLength: 60, size: "max" });

const unplanted = (text: string): string => text;

/** A pair of empty stores whose clocks stand still until the test moves both. */
export async function openPair(
  plant = unplanted,
  open: () => Promise<Pick<TestDatabase, "store" | "insight" | "pool" | "clock" | "url" | "close">> = freshDatabase,
): Promise<{ pair: Pair; insight: Database; close: () => Promise<void> }> {
  let now = startMs;
  const { store, insight, pool, clock, close, url } = await open();
  await pool.query("update belfry.test_clock set origin = $1, shift = interval '0', rate = 0", [new Date(startMs)]);
  const oracle = referenceStore(() => now);
  // Beyond all ids of jobs, so that an id names one thing.
  await pool.query("alter table belfry.run alter column id restart with 1000001");
  const { draw } = oracle.tables;
  oracle.tables.draw = (sequence) => draw(sequence) + (sequence === "run" ? 1_000_000 : 0);
  const advance = async (ms: number): Promise<void> => {
    now += ms;
    await clock.advance(ms);
  };
  let two: TwoConnections | null = null;
  const pair = new Pair(oracle, {
    store,
    two: () => (two ??= openTwo(url, plant)),
    advance,
    keepRows: () => keepRows(pool),
  });
  await pair.both((one) => one.installSlots(slotGroups(2)));
  return {
    pair,
    insight,
    async close() {
      await two?.close();
      await close();
    },
  };
}

/** Everything that can be read, on both sides. */
export async function expectEqualTables(pair: Pair): Promise<void> {
  await expectEqualRows(pair);
  await pair.both((store) => store.reopen({ olderThanMs: 0, limit: 100, messagesMax: 1_000 }));
  await pair.both((store) => store.wake({ slotKeys: "all", limit: 100 }));
}

/** The same, and changes nothing. */
export async function expectEqualRows(pair: Pair): Promise<void> {
  await pair.both((store) => store.jobs());
  for (const twin of pair.jobs) {
    await pair.both(async (store, id) => {
      const history = await store.history(id(twin));
      return history.map(({ id: _id, ...move }) => move);
    });
  }
  await pair.both((store) => store.runs());
  for (const run of pair.runs) {
    await pair.both(async (store, _id, side) => {
      const tasks = await store.tasks(run[side]);
      // How many further ends a task counted after the one that decided it depends on the page they came in.
      return tasks.map(({ predecessors, ...task }) => ({ ...task, preds: isFinal(task.state) ? null : predecessors }));
    });
    await pair.both((store, _id, side) => store.runResult(run[side]));
    // By their place, so that they show their order.
    const page = { after: null, limit: 100 };
    await pair.both(async (store, _id, side) => ({ ...(await store.runOutputs(run[side], page)) }));
  }
  await pair.both((store) => store.schedules());
  for (const id of scheduleIds) {
    await pair.both((store) => store.occurrences(id));
    await pair.both((store) => store.scheduleFacts(id));
  }
}

async function runBoth(steps: readonly Step[], reached: Set<string>, plant = unplanted): Promise<void> {
  const { pair, insight, close } = await openPair(plant);
  try {
    for (const { run } of steps) await run(pair);
    await expectEqualTables(pair);
    await expectEqualObjectives(pair, insight);
    const { jobs, runs, occurrences } = pair.oracle.tables;
    for (const { state } of jobs.values()) reached.add(`job ${state}`);
    for (const { state, starterId, funnel } of runs.values()) {
      reached.add(`run ${state}`);
      if (funnel.ok > 0 && jobs.get(starterId ?? 0)?.task != null) reached.add(`rows ${state}`);
    }
    for (const { outcome } of occurrences.values()) reached.add(`time ${outcome}`);
  } finally {
    await close();
  }
}

/**
 * Runs random sequences, each from empty stores; the first that differs is shrunk and reported.
 * @returns the states that the sequences ended in, so that a test can see that they got somewhere.
 */
export async function compare(
  seed: number,
  sequences: number,
  { sequence = oneAtATime, plant }: { sequence?: Arbitrary<Step[]>; plant?: (text: string) => string } = {},
): Promise<readonly string[]> {
  const reached = new Set<string>();
  await assert(
    asyncProperty(sequence, (steps) => runBoth(steps, reached, plant)),
    // That a planted fault is found is enough: its shortest sequence takes minutes.
    { seed, numRuns: sequences, endOnFailure: plant !== undefined },
  );
  return [...reached].toSorted((a, b) => a.localeCompare(b));
}
