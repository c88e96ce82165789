import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { stateMachine, target } from "../../scripts/state-machine.ts";
import { finalStates, isAllowed, isFinal, states, transitions } from "../../src/machine/state.ts";

test("docs/state-machine.md is what the transition table says; write it again with `node scripts/state-machine.ts`", () => {
  expect(readFileSync(target, "utf8")).toBe(stateMachine());
});

test("each move is listed once", () => {
  const moves = transitions.map(({ from, to }) => `${from}>${to}`);
  expect(moves).toEqual([...new Set(moves)]);
});

test("every state can be reached from a new job, and every job can still end", () => {
  const reached = new Set<string>();
  const walk = (from: (typeof states)[number] | null): void => {
    for (const { to } of transitions.filter((move) => move.from === from && !reached.has(move.to))) {
      reached.add(to);
      walk(to);
    }
  };
  walk(null);
  expect([...reached].toSorted()).toEqual([...states].toSorted());
  for (const state of states.filter((each) => !isFinal(each))) {
    expect(finalStates.some((end) => transitions.some((move) => move.from === state && move.to === end))).toBe(true);
  }
});

test("a final state is left only by an operator's retry, and SUCCESS never", () => {
  for (const from of finalStates) {
    const exits = transitions.filter((move) => move.from === from);
    expect(exits.map(({ to, by }) => `${to} by ${by}`)).toEqual(
      from === "SUCCESS" ? [] : ["QUEUED by control", "PENDING by control"],
    );
  }
});

test("only a claim makes a job RUNNING, and staying in a state is not a move", () => {
  expect(transitions.filter(({ to }) => to === "RUNNING").map(({ from }) => from)).toEqual(["QUEUED"]);
  expect(states.filter((state) => isAllowed(state, state))).toEqual([]);
});
