import { AssertionError } from "node:assert/strict";
import { array, nat, oneof, toStringMethod, tuple, type Arbitrary } from "fast-check";
import { trial } from "../support/reference/transaction.ts";
import { anyStep, expectEqualRows } from "./model.ts";
import { jobMoves, jobsUnderWay } from "./job-commands.ts";
import { passMoves } from "./pass-commands.ts";
import { runMoves, runsUnderWay } from "./run-commands.ts";
import { scheduleMoves, schedulesUnderWay } from "./schedule-commands.ts";
import type { Call, Pair } from "./pair.ts";
import { step, type Step } from "./step.ts";

const ofJobs = oneof(...jobMoves, ...jobMoves, ...passMoves);
const ofRuns = oneof(...runMoves, ...runMoves, ...jobMoves, ...passMoves);
const ofSchedules = oneof(...scheduleMoves, ...scheduleMoves, ...jobMoves, ...passMoves);
const twoMoves = oneof(
  tuple(ofJobs, ofJobs),
  tuple(ofJobs, ofJobs),
  tuple(ofRuns, ofRuns),
  tuple(ofSchedules, ofSchedules),
);

/**
 * Two steps at once on connections of their own, statement by statement, each statement's commit apart from it. What they
 * answer and leave has to be what the reference store answers and leaves after the one and then the other, in some order.
 * A step that passes by rows which the other one holds is run again, as the next pass does, and only the rows count.
 */
const beside: Arbitrary<Step> = tuple(twoMoves, nat(40), array(nat(1), { maxLength: 12 })).map(
  ([[a, b], focus, choices]) =>
    step(`AT ONCE (${focus}, ${choices.join("")}): ${a[toStringMethod]()} | ${b[toStringMethod]()}`, async (pair) => {
      const calls = [await pair.record(a, focus), await pair.record(b, focus)] as const;
      const real = await atOnce(pair, calls, choices);
      const again = [...(a.passesBy ? calls[0] : []), ...(b.passesBy ? calls[1] : [])];
      for (const call of again) await pair.answer(pair.real, call);
      const orders = [...merged(...calls), ...(b.passesBy ? [calls[0]] : []), ...(a.passesBy ? [calls[1]] : [])];
      const differences: unknown[] = [];
      for (const order of orders) {
        const difference = await differs(pair, { order, again, real: again.length > 0 ? null : real });
        if (difference === null) return;
        differences.push(difference);
      }
      throw differences[0];
    }),
);

const underWay = tuple(...jobsUnderWay, ...jobsUnderWay, ...runsUnderWay, ...schedulesUnderWay);
const moves = array(oneof(beside, beside, beside, ...jobsUnderWay, anyStep), {
  minLength: 5,
  maxLength: 25,
  size: "max",
});

/** Sequences that begin with jobs, runs and schedules, and in which every second step is two at once. */
export const twoAtATime: Arbitrary<Step[]> = tuple(underWay, moves).map(([first, then]) => [...first, ...then]);

/** Every order of the calls that keeps each list's own. */
function merged(a: readonly Call[], b: readonly Call[]): Call[][] {
  const [firstOfA, ...restOfA] = a;
  const [firstOfB, ...restOfB] = b;
  if (firstOfA === undefined) return [[...b]];
  if (firstOfB === undefined) return [[...a]];
  return [
    ...merged(restOfA, b).map((rest) => [firstOfA, ...rest]),
    ...merged(a, restOfB).map((rest) => [firstOfB, ...rest]),
  ];
}

interface Expected {
  readonly order: readonly Call[];
  readonly again: readonly Call[];
  /** What Postgres answered to each call; null when only the rows count. */
  readonly real: ReadonlyMap<Call, unknown> | null;
}

/** @returns null when the reference store comes to the same: then it stays so. */
async function differs(pair: Pair, { order, again, real }: Expected): Promise<unknown> {
  const forget = pair.remember();
  let difference: unknown = null;
  await trial(pair.oracle.tables, async () => {
    try {
      const answers = new Map<Call, unknown>();
      for (const call of order) answers.set(call, await pair.answer(pair.oracle, call));
      for (const call of again) await pair.answer(pair.oracle, call);
      await pair.nameNew();
      for (const [call, answer] of real ?? []) await pair.expectEqual(answers.get(call), answer);
      await expectEqualRows(pair);
    } catch (error) {
      if (!(error instanceof AssertionError)) throw error;
      difference = error;
    }
    return { stays: difference === null };
  });
  if (difference !== null) forget();
  return difference;
}

/** @returns the answer to each call. */
async function atOnce(
  pair: Pair,
  chains: readonly (readonly Call[])[],
  choices: readonly number[],
): Promise<ReadonlyMap<Call, unknown>> {
  const { gate, stores, choose } = pair.two();
  choose(choices);
  const answers = new Map<Call, unknown>();
  const ends = new AbortController();
  const ended = Promise.all(
    chains.map(async (calls, n) => {
      for (const call of calls) answers.set(call, await pair.answer(stores[n] ?? pair.real, call));
    }),
  ).finally(() => ends.abort());
  ended.catch(() => {});
  while (!ends.signal.aborted) {
    await gate.settled();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await ended;
  return answers;
}
