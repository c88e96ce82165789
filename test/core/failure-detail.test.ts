import { expect, test } from "vitest";
import { failureDetail } from "../../src/core/job/failure-detail.ts";

const detail = (error: unknown) => failureDetail(error, []);
const throwing = (name: string): object =>
  Object.defineProperty({}, name, {
    get(): never {
      throw new Error("not readable");
    },
  });

/** Errors nested by `cause`, the first outermost. */
const chain = (...stacks: string[]): unknown =>
  stacks.reduceRight<unknown>((cause, stack) => (cause === undefined ? { stack } : { stack, cause }), undefined);

test.each<[string, unknown, string | null]>([
  ["a text", { stack: "at a" }, "at a"],
  ["none", {}, null],
  ["a number", { stack: 3 }, null],
  ["null", { stack: null }, null],
  ["one that throws when it is read", throwing("stack"), null],
  ["of a thrown text", "at a", null],
  ["of a thrown null", null, null],
  ["of a thrown undefined", undefined, null],
  ["too long", { stack: "x".repeat(8_001) }, "x".repeat(8_000)],
  ["just short enough", { stack: "x".repeat(8_000) }, "x".repeat(8_000)],
  ["with NUL", { stack: "a\0b" }, "a\uFFFDb"],
])("the stack is %s", (_, error, expected) => {
  expect(detail(error)).toEqual({ stack: expected, causes: [], response: null, log: [] });
});

const noText = {
  toString(): never {
    throw new Error("no text");
  },
};

const circular: { stack: string; cause?: unknown } = { stack: "a" };
circular.cause = { stack: "b", cause: circular };

test.each<[string, unknown, string[]]>([
  ["no cause", chain("a"), []],
  ["one cause", chain("a", "b"), ["b"]],
  ["five causes", chain("0", "1", "2", "3", "4", "5"), ["1", "2", "3", "4", "5"]],
  ["six causes, of which five are kept", chain("0", "1", "2", "3", "4", "5", "6"), ["1", "2", "3", "4", "5"]],
  ["a cause without a stack is its text", { cause: "disk full" }, ["disk full"]],
  ["a number", { cause: 0 }, ["0"]],
  ["one whose stack is no text is shown as a text", { cause: { stack: 5 } }, ["[object Object]"]],
  ["null is no cause", { cause: null }, []],
  ["a cause without a text is left out", { cause: { ...noText, cause: "below" } }, ["below"]],
  ["a cause that throws when it is read", throwing("cause"), []],
  ["a circle ends where it began", circular, ["b", "a"]],
  ["too long", { cause: "x".repeat(2_001) }, ["x".repeat(2_000)]],
])("causes: %s", (_, error, expected) => {
  expect(detail(error).causes).toEqual(expected);
});

const answer = { status: 503, body: "busy" };
test.each<[string, unknown, unknown]>([
  ["of the error", { response: answer }, answer],
  ["of its cause", { cause: { response: answer } }, answer],
  ["of the fifth cause", { cause: { cause: { cause: { cause: { cause: { response: answer } } } } } }, answer],
  ["the outer one first", { response: answer, cause: { response: { status: 404 } } }, answer],
  ["without a body", { response: { status: 404 } }, { status: 404, body: null }],
  ["with a body that is no text", { response: { status: 404, body: 3 } }, { status: 404, body: null }],
  ["with a long body", { response: { status: 1, body: "x".repeat(2_001) } }, { status: 1, body: "x".repeat(2_000) }],
  ["whose status is a text", { response: { status: "503" } }, null],
  ["whose status is no whole number", { response: { status: 5.5 } }, null],
  ["whose status is infinite", { response: { status: Infinity } }, null],
  ["a false one does not hide that of the cause", { response: { status: "503" }, cause: { response: answer } }, answer],
  ["null", { response: null }, null],
  ["that throws", throwing("response"), null],
])("response: %s", (_, error, expected) => {
  expect(detail(error).response).toEqual(expected);
});

test("the log is kept as it is", () => {
  const log = [{ atMs: 3, level: "info", message: "begun", fields: null }] as unknown as Parameters<
    typeof failureDetail
  >[1];
  expect(failureDetail(null, log).log).toBe(log);
});
