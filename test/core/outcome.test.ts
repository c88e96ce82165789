import { expect, test } from "vitest";
import { AmbiguousError, InvalidPayload, PermanentError, RetryLater } from "../../src/define/errors.ts";
import { reasons } from "../../src/machine/reasons.ts";
import { StoreAway, UnknownOutcome } from "../../src/machine/transaction.ts";
import { outcomeOf } from "../../src/run/handler.ts";
import { Interruption } from "../../src/run/lease-keeper.ts";

const retryable = (code: string, message: string) => ({ is: "retryable", code, message, afterMs: null });
const released = (reason: string) => ({ is: "released", reason });
const timeout = retryable("TIMEOUT", "the handler did not finish within its timeout");
const under = (why: ConstructorParameters<typeof Interruption>[0]) => new Interruption(why);

test.each<[string, unknown, Interruption | null, object]>([
  ["an error", new TypeError("x"), null, retryable("TypeError", "x")],
  ["an error with a code", Object.assign(new Error("x"), { code: "E1" }), null, retryable("E1", "x")],
  ["an error whose code is empty", Object.assign(new Error("x"), { code: "" }), null, retryable("Error", "x")],
  ["an error whose code is a number", Object.assign(new Error("x"), { code: 7 }), null, retryable("Error", "x")],
  ["an object with a code", { code: "E2", toString: () => "y" }, null, retryable("E2", "y")],
  ["a function", Object.assign(() => 1, { code: "E3", toString: () => "z" }), null, retryable("ERROR", "z")],
  ["a text", "no", null, retryable("ERROR", "no")],
  ["null", null, null, retryable("ERROR", "null")],
  ["a symbol", Symbol("s"), null, retryable("ERROR", "Symbol(s)")],
  ["what has no text", Object.create(null), null, retryable("ERROR", "something was thrown that has no text")],
  ["an error without a text", Object.assign(new Error("x"), { message: 7 }), null, retryable("Error", "7")],
  ["a PermanentError", new PermanentError("x", { code: "P" }), null, { is: "permanent", code: "P", message: "x" }],
  ["an AmbiguousError", new AmbiguousError("x"), null, { is: "ambiguous", code: "AMBIGUOUS", message: "x" }],
  ["a RetryLater", new RetryLater("x", { after: "3s", code: "R" }), null, { ...retryable("R", "x"), afterMs: 3_000 }],
  ["an absent store", new StoreAway("x"), null, released(reasons.storeAway)],
  ["an unknown commit", new UnknownOutcome("x"), null, released(reasons.storeAway)],
  ["any error after a deadline", new PermanentError("x"), under("deadline"), released("deadline")],
  ["any error after a lapse", new PermanentError("x"), under("lapsed"), released("lapsed")],
  ["any error after a timeout", new StoreAway("x"), under("timeout"), timeout],
])("the outcome of %s", (_, error, interruption, outcome) => {
  expect(outcomeOf(error, interruption)).toEqual(outcome);
});

test("the outcome of a refused payload is permanent", () => {
  expect(outcomeOf(new InvalidPayload("k", []), null)).toMatchObject({ is: "permanent", code: "INVALID_PAYLOAD" });
});
