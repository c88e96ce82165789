import { expect, test } from "vitest";
import type { Entry } from "../../examples/fake/ledger.ts";
import { tally } from "./tally.ts";

const ledger = (...lines: readonly [key: string, outcome: Entry["outcome"]][]): readonly Entry[] =>
  lines.map(([key, outcome]) => ({ at: "2026-11-21T08:00:00Z", key, outcome }));

test("outcomes are counted by key, and keys listed once", () => {
  const { count, keys } = tally(ledger(["a", "refused"], ["a", "accepted"], ["a", "received"], ["a", "received"]));
  expect([count("a", "refused"), count("a", "received"), count("b", "received")]).toEqual([1, 2, 0]);
  expect(keys("received")).toEqual(["a"]);
});

test("a key that is accepted twice is a repeat", () => {
  expect(tally(ledger(["a", "accepted"], ["b", "accepted"], ["a", "accepted"])).repeats).toBe(1);
});

test("a first try after somebody's second one is unfair, whatever the outcomes", () => {
  expect(tally(ledger(["a", "refused"], ["b", "accepted"], ["a", "refused"])).isFair).toBe(true);
  expect(tally(ledger(["a", "refused"], ["a", "refused"], ["b", "accepted"])).isFair).toBe(false);
  expect(tally(ledger(["a", "cut off"], ["a", "accepted"], ["b", "refused"])).isFair).toBe(false);
});

test("the consumer's lines are no tries", () => {
  expect(tally(ledger(["a", "accepted"], ["a", "received"], ["b", "accepted"])).isFair).toBe(true);
});
