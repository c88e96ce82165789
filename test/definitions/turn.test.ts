import { expect, test } from "vitest";
import { checkApps, notesOf } from "../../src/define/check.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineFanOut } from "../../src/define/define-fan-out.ts";
import { defineJob, definitionOf } from "../../src/define/define-job.ts";
import type { LaneDefinition } from "../../src/define/lane.ts";
import { describe as line } from "../../src/define/problem.ts";
import { turnFor, turnLanesOf } from "../../src/define/turn.ts";

const jobWith = (given: object, id = "a") => defineJob({ id, run: () => {}, lane: "bulk", ...given });
const appWith = (given: object, bulk: LaneDefinition = { concurrency: 20 }) =>
  defineApp({ name: "x", jobs: [jobWith(given)], lanes: { bulk } });
const byCustomer = { key: ({ customer }: { customer: string }) => customer };

test.each<[object, string]>([
  [{ fairness: "a" }, 'fairness "a" must be an object; write { key: (payload) => payload.customer }'],
  [{ fairness: {} }, "fairness.key (missing) must be a function of the payload; write (payload) => payload.customer"],
  [
    { fairness: { ...byCustomer, weight: 2 } },
    "fairness.weight 2 must be a function of the payload; write (payload) => payload.weight",
  ],
  [{ fairness: { ...byCustomer, by: 1 } }, "fairness.by 1 is not known; use key, weight"],
  [{ priority: "urgent" }, 'priority "urgent" is not one of the choices; use "high" or "normal" or "low"'],
])("a job may not have %j", (given, expected) => {
  expect(definitionOf(jobWith(given)).problems.map(line)).toEqual([`job "a": ${expected}`]);
});

test.each<[object, LaneDefinition, string]>([
  [
    { fairness: byCustomer },
    {},
    'job "a": fairness "bulk" needs its lane to have concurrency: its places are what is shared; write lanes: { "bulk": { concurrency: 20 } } in its app',
  ],
  [
    { priority: "low", runOn: "fargate" },
    { concurrency: 20 },
    'job "a": priority "fargate" is not for a job on Fargate, which takes no place of its lane; use concurrency',
  ],
  [
    { priority: "low" },
    { concurrency: 20, ahead: 5 },
    'lane "bulk" of app "x": ahead 5 must be a number from 1 to 4; leave it out for the default',
  ],
  [
    { priority: "low" },
    { concurrency: 20, aging: "1ms" },
    'lane "bulk" of app "x": aging "1ms" must be at least 1s; use a longer one',
  ],
])("a stage may not have %j in a lane with %j", (given, bulk, expected) => {
  expect(checkApps([appWith(given, bulk)], "dev").map(line)).toEqual([expected]);
});

test("a lane has the places of its workers, and a quarter more jobs are out", () => {
  expect(turnLanesOf([appWith({ priority: "low" }, { concurrency: 2, batchSize: 5, aging: "1m" })], "dev")).toEqual([
    { lane: "bulk", places: 10, ahead: 13, agingMs: 60_000 },
  ]);
  expect(turnLanesOf([appWith({})], "dev")).toEqual([]);
});

function turned(given: object, payload: object) {
  const definition = definitionOf(jobWith(given));
  return definition.turns && turnFor(definition, definition.turns, payload);
}

test("a job is held on its lane, priority and key", () => {
  const { fairness, weight } = { fairness: byCustomer, weight: () => 4 };
  const turnOf = (given: object) => turned(given, { customer: "a#1" });
  expect(turnOf({})).toBeNull();
  expect(turnOf({ priority: "low" })).toEqual({ heldOn: "turn:bulk#1#", weight: 1 });
  expect(turnOf({ fairness: { ...fairness, weight } })).toEqual({ heldOn: "turn:bulk#0#a#1", weight: 4 });
});

test.each<[object, string]>([
  [{ key: () => "" }, "fairness.key"],
  [{ key: () => 7 }, "fairness.key"],
  [{ ...byCustomer, weight: () => 0 }, "fairness.weight: answered 0 for it; a weight is a number from 0.1 to 100"],
  [{ ...byCustomer, weight: () => Number.NaN }, "fairness.weight: answered NaN for it"],
])("no job is made for what %j answers", (fairness, expected) => {
  expect(() => turned({ fairness }, { customer: "a" })).toThrow(expected);
});

test("check notes a fan-out whose targets hold up other kinds of their lane", () => {
  const notes = (given: object) => {
    const each = jobWith(given, "target");
    const fanOut = defineFanOut({
      id: "all",
      from: () => (async function* () {})(),
      each,
      by: "id",
      key: () => "k",
      payload: () => undefined,
    });
    return notesOf([
      defineApp({ name: "x", jobs: [fanOut, jobWith({}, "other")], lanes: { bulk: { concurrency: 2 } } }),
    ]);
  };
  expect(notes({})).toEqual([
    'job "all": its targets share lane "bulk" with other, which wait behind them: give "target" fairness, or a lane of its own',
  ]);
  expect(notes({ fairness: byCustomer })).toEqual([]);
});
