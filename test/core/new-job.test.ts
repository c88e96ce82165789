import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineJob, definitionOf } from "../../src/define/define-job.ts";
import { InvalidPayload } from "../../src/define/errors.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { newJob } from "../../src/define/new-job.ts";
import { canonical, checkedJson } from "../../src/define/payload.ts";

describe("the canonical text of an input", () => {
  test("has the keys in the order of their UTF-16 units", () => {
    expect(canonical({ b: 1, "10": 2, a: 3, B: 4, "9": 5, ab: 6, "\u{1F600}": 7, "\uFF5E": 8, "": 9 })).toBe(
      '{"":9,"10":2,"9":5,"B":4,"a":3,"ab":6,"b":1,"\u{1F600}":7,"\uFF5E":8}',
    );
  });

  test("is JSON that says the same", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "grapheme" }), (value) => {
        fc.pre(!JSON.stringify(value).includes("\\u0000"));
        fc.pre(!/(?<![\d.e+-])-?\d{16,21}(?![\d.])/.test(JSON.stringify(value)));
        expect(JSON.parse(canonical(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("leaves out undefined fields, as JSON does, and says null for no payload", () => {
    expect(canonical({ a: undefined, b: 1 })).toBe('{"b":1}');
    expect(canonical(undefined)).toBe("null");
    expect(canonical([undefined, 1])).toBe("[null,1]");
  });

  test("says null for the holes of an array", () => {
    expect(canonical(Array(2))).toBe("[null,null]");
  });

  test("asks toJSON, also when it answers with a list", () => {
    expect(canonical({ at: new Date(0) })).toBe('{"at":"1970-01-01T00:00:00.000Z"}');
    expect(canonical({ set: { toJSON: () => [2, 1] } })).toBe('{"set":[2,1]}');
    expect(canonical({ list: Object.assign([1], { toJSON: () => "[1]" }) })).toBe('{"list":"[1]"}');
    expect(canonical({ at: new Date(Number.NaN), none: { toJSON: () => null } })).toBe('{"at":null,"none":null}');
  });

  test("takes a toJSON that is no function as the data it is", () => {
    expect(canonical({ toJSON: "yes" })).toBe('{"toJSON":"yes"}');
  });

  test("keeps a key called __proto__ as the data it is", () => {
    const hostile: unknown = JSON.parse('{"__proto__":{"admin":true}}');
    expect(canonical(hostile)).toBe('{"__proto__":{"admin":true}}');
    expect(Object.getPrototypeOf(checkedJson("k", hostile))).toBe(Object.prototype);
  });

  test.each([
    ["NUL in a text", { a: "x\u0000" }, /NUL/],
    ["NUL in a key", { "x\u0000": 1 }, /NUL/],
    ["half a surrogate pair in a text", { a: "\uD83D" }, /surrogate/],
    ["half a surrogate pair in a key", { "\uDC00": 1 }, /surrogate/],
    ["infinity", { a: Number("1e400") }, /Infinity/],
    ["not a number", { a: Number.NaN }, /NaN/],
    ["a bigint", { a: 1n }, /bigint/],
    ["a function", { a: () => 1 }, /function/],
    [
      "an integer beyond 2^53, with its path",
      { a: [0, { id: 2 ** 53 }] },
      /^payload\.a\[1\]\.id holds the integer 9007199254740992/,
    ],
    ["a negative one", -(2 ** 60), /^payload holds the integer -1152921504606846976, beyond 2\^53/],
  ])("refuses %s, and says what it found", (_what, value, message) => {
    expect(() => canonical(value)).toThrow(message);
  });

  test("refuses a payload as a schema does, with the path of the member", () => {
    const refused = expect.objectContaining({
      issues: [{ path: "a[1].id", message: expect.stringMatching(/^holds a NUL/) }],
    });
    expect(() => checkedJson("mail", { a: [0, { id: "\u0000" }] })).toThrow(InvalidPayload);
    expect(() => checkedJson("mail", { a: [0, { id: "\u0000" }] })).toThrow(refused);
    expect(() => checkedJson("mail", Number.NaN)).toThrow('payload of "mail" is invalid: (root): holds the number NaN');
  });

  test("takes the largest exact integers, and numbers that JSON writes with an exponent", () => {
    expect(canonical([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])).toBe("[9007199254740991,-9007199254740991]");
    expect(canonical([1e21, 5e300])).toBe("[1e+21,5e+300]");
  });

  test("takes a payload as deep as the limit and refuses one that is deeper", () => {
    const nested = (depth: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < depth; level += 1) value = [value];
      return value;
    };
    expect(canonical(nested(contractLimits.payloadDepthMax))).toContain("1");
    expect(() => canonical(nested(contractLimits.payloadDepthMax + 1))).toThrow(
      `deeper than ${contractLimits.payloadDepthMax}`,
    );
    expect(() => canonical(nested(100_000))).toThrow(RangeError);
  });

  test("takes as many keys as the limit, counted over the whole payload, and refuses one more", () => {
    const withKeys = (keys: number): unknown => {
      const half = Math.floor(keys / 2) - 1;
      const object = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));
      return { a: object(half), b: object(keys - half - 2) };
    };
    expect(canonical(withKeys(contractLimits.payloadKeysMax))).toContain("k1");
    expect(() => canonical(withKeys(contractLimits.payloadKeysMax + 1))).toThrow(
      `more than ${contractLimits.payloadKeysMax} keys`,
    );
  });
});

describe("the size of a payload", () => {
  const ofBytes = (bytes: number): string => "x".repeat(bytes - 2);

  test("is taken up to the limit and refused one byte above it", () => {
    expect(checkedJson("mail", ofBytes(contractLimits.payloadBytesMax))).toHaveLength(
      contractLimits.payloadBytesMax - 2,
    );
    expect(() => checkedJson("mail", ofBytes(contractLimits.payloadBytesMax + 1))).toThrow(
      `payload of "mail" is ${contractLimits.payloadBytesMax + 1} bytes; the limit is ${contractLimits.payloadBytesMax}`,
    );
  });

  test("is counted in UTF-8 bytes", () => {
    const most = "ü".repeat(contractLimits.payloadBytesMax / 2 - 1);
    expect(checkedJson("k", most)).toBe(most);
    expect(() => checkedJson("k", `${most}x`)).toThrow(`is ${contractLimits.payloadBytesMax + 1} bytes`);
  });
});

describe("a new job", () => {
  const input = {
    payload: { to: "ada" },
    dueAt: null,
    delayMs: 0,
    trace: "trace-1",
    slotKeys: [],
  };
  const mail = definitionOf(
    defineJob({ id: "mail", payload: z.object({ to: z.string() }), lane: "post", lease: "9s", run: () => {} }),
  );

  test("carries the policy of its definition, so that the store can apply it", () => {
    expect(newJob(mail, { ...input, key: "k" })).toMatchObject({
      kind: "mail",
      key: "k",
      lane: "post",
      leaseMs: 9_000,
      maxAttempts: contractLimits.maxAttemptsDefault,
      retentionMs: contractLimits.retentionMsDefault,
      expiresAt: null,
    });
  });

  test.each([
    ["empty", ""],
    ["too long", "k".repeat(contractLimits.keyCharactersMax + 1)],
    ["with a NUL", "a\u0000b"],
    ["with half a surrogate pair", "a\uD83D"],
  ])("refuses a key that is %s, and names the kind", (_what, key) => {
    expect(() => newJob(mail, { ...input, key })).toThrow(/key of "mail"/);
  });

  test("takes a key of the greatest length", () => {
    const key = "k".repeat(contractLimits.keyCharactersMax);
    expect(newJob(mail, { ...input, key }).key).toBe(key);
  });

  test("a cap is a group that holds, a lock a group of one that skips", () => {
    const both = defineJob({ id: "both", concurrency: 5, lock: { name: "ledger" }, run: () => {} });
    expect(definitionOf(both).slotGroups).toEqual([
      { key: "cap:both", size: 5, onRefusal: "hold", reason: "slot" },
      { key: "lock:ledger", size: 1, onRefusal: "skip", reason: "lock-held" },
    ]);
    expect(mail.slotGroups).toEqual([]);
  });
});
