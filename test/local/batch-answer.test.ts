import { expect, it } from "vitest";
import { failedMessages } from "../../src/local/lambda/event-source.ts";

const ids = ["a", "b", "c"];
const all = new Set(ids);
const failure = (...names: unknown[]) => ({ batchItemFailures: names.map((itemIdentifier) => ({ itemIdentifier })) });

it.each([
  ["no answer at all", undefined],
  ["null", null],
  ["an empty object", {}],
  ["an empty list", failure()],
  ["a null list", { batchItemFailures: null }],
])("%s means that everything succeeded", (_, answer) => {
  expect(failedMessages(ids, answer)).toEqual(new Set());
});

it("names what failed, and only that stays in the queue", () => {
  expect(failedMessages(ids, failure("c", "a"))).toEqual(new Set(["a", "c"]));
});

it.each([
  ["an unknown id", failure("a", "z")],
  ["an empty id", failure("")],
  ["a null id", failure(null)],
  ["a number for an id", failure(1)],
  ["a wrong field name", { batchItemFailures: [{ id: "a" }] }],
  ["a list of names", { batchItemFailures: ["a"] }],
  ["a list that is none", { batchItemFailures: "a" }],
  ["a bare list", [{ itemIdentifier: "a" }]],
  ["a text", "done"],
])("%s means that everything failed", (_, answer) => {
  expect(failedMessages(ids, answer)).toEqual(all);
});
