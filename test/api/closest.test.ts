import { expect, test } from "vitest";
import { closest } from "../../src/api/closest.ts";

test.each<[string, string, readonly string[], readonly string[]]>([
  [
    "the nearest first, then by name",
    "report",
    ["rxpxrt", "repory", "reporx", "my-report"],
    ["my-report", "reporx", "repory"],
  ],
  ["a far one behind near ones", "report", ["rxpxrt", "reporx"], ["reporx", "rxpxrt"]],
  ["one that contains it before one that is near", "mail", ["maip", "send-mail", "mai"], ["send-mail", "mai", "maip"]],
  ["whatever its case", "MAIL", ["Send-Mail"], ["Send-Mail"]],
  ["three at most", "aaaa", ["aaab", "aaac", "aaad", "aaae"], ["aaab", "aaac", "aaad"]],
  ["up to two letters away for a short word", "ab", ["cd", "xyz", "abcd", "b"], ["abcd", "b", "cd"]],
  ["up to a third of a long word", "abcdefghijk", ["abcdefghxyz", "abcdefgwxyz"], ["abcdefghxyz"]],
  ["none for nothing that is like it", "mail", ["archive"], []],
  ["for no word only what is short", "", ["a", "abc"], ["a"]],
  [
    "of a word of any length its first 64 letters",
    "x".repeat(100),
    ["x".repeat(64), "x".repeat(65)],
    ["x".repeat(64), "x".repeat(65)],
  ],
])("names that may be meant: %s", (_, wanted, names, found) => {
  expect(closest(wanted, names)).toEqual(found);
});

test("a letter beyond the first 64 is not looked at", () => {
  expect(closest(`${"x".repeat(64)}y`, [`${"x".repeat(64)}z`])).toEqual([`${"x".repeat(64)}z`]);
  expect(closest(`${"x".repeat(63)}yy`, [`a-${"x".repeat(63)}y-b`, `a-${"x".repeat(63)}z-${"b".repeat(40)}`])).toEqual([
    `a-${"x".repeat(63)}y-b`,
  ]);
});
