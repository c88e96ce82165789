import { describe, expect, test } from "vitest";
import { cleanCode, cleanJson, cleanText } from "../../src/machine/clean.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";

describe("text for Postgres", () => {
  test("that is fine stays as it is", () => {
    expect(cleanText("é한🙂 'quoted'", 100)).toBe("é한🙂 'quoted'");
  });

  test("has no NUL and no half of a surrogate pair", () => {
    expect(cleanText("a\u0000b\uD800c\uDC00", 100)).toBe("a\uFFFDb\uFFFDc\uFFFD");
  });

  test("is cut to its limit, and a pair that is cut through leaves no half", () => {
    expect(cleanText("abc🙂", 4)).toBe("abc\uFFFD");
    expect(cleanCode("x".repeat(1_000))).toHaveLength(contractLimits.errorCodeCharactersMax);
    expect(cleanCode(null)).toBeNull();
  });

  test("is cleaned everywhere in a JSON value, names too", () => {
    expect(cleanJson({ "a\u0000": ["\uD800", { b: 1, c: null }] })).toEqual({
      "a\uFFFD": ["\uFFFD", { b: 1, c: null }],
    });
  });
});
