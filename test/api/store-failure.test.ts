import { expect, test } from "vitest";
import { problemOfStore, storeDoesNotAnswer } from "../../src/api/store-failure.ts";
import { DatabaseError, DatabaseUnavailable } from "../../src/postgres/failure.ts";
import { UnknownOutcome } from "../../src/machine/transaction.ts";

const failed = (code: string): DatabaseError => new DatabaseError("", { code });
const foreign = (code: string): Error => Object.assign(new Error("another"), { code });

test.each<[string, unknown, string | null, string | null, boolean]>([
  ["a connection that broke", new UnknownOutcome(""), "store-away", "outcome-unknown", true],
  ["a full disk", new DatabaseUnavailable("", { code: "53100" }), "store-full", "store-full", true],
  ["a pool without a connection", new DatabaseUnavailable("", { code: "pool" }), "store-away", "store-away", true],
  ["an address without a server", new DatabaseUnavailable(""), "store-away", "store-away", true],
  ["no memory", failed("53200"), "store-away", "store-away", true],
  ["a server that stops", failed("57P01"), "store-away", "store-away", true],
  ["a server that starts", failed("57P03"), "store-away", "store-away", true],
  ["a statement that took too long", failed("57014"), "store-away", "store-away", true],
  ["a reader after a failover", failed("25006"), "store-away", "store-away", true],
  ["a lock that did not become free", failed("55P03"), "store-busy", "store-busy", false],
  ["a deadlock", failed("40P01"), "store-busy", "store-busy", false],
  ["a serialization failure", failed("40001"), "store-busy", "store-busy", false],
  ["a constraint", failed("23505"), null, null, false],
  ["an error that is not of the store", foreign("57014"), null, null, false],
  ["an error without a code", new TypeError("a defect"), null, null, false],
  ["no error", undefined, null, null, false],
])("%s", (_what, error, read, write, isAway) => {
  const read503 = problemOfStore(error, { isWrite: false });
  const write503 = problemOfStore(error, { isWrite: true });
  expect([read503?.code ?? null, write503?.code ?? null]).toEqual([read, write]);
  expect(storeDoesNotAnswer(error)).toBe(isAway);
  for (const problem of [read503, write503].filter((each) => each !== null)) {
    expect(problem).toMatchObject({ status: 503, headers: { "retry-after": "2" }, cause: error });
    expect(problem.message.includes("nothing was changed")).toBe(problem.code !== "outcome-unknown");
  }
});

test.each([
  [undefined, "look before you send it again"],
  [null, "it came without a key, so look before you send it again, or it may happen twice"],
  ["k", "send it again with the same key, and it happens once"],
])("a write with the key %j whose outcome is unknown says how to go on", (key, how) => {
  const problem = problemOfStore(new UnknownOutcome(""), { isWrite: true, ...(key === undefined ? {} : { key }) });
  expect(problem?.message.endsWith(`it may have happened: ${how}`)).toBe(true);
});
