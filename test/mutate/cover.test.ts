import { expect, test } from "vitest";
import { enteringRenamed } from "./cover.ts";

const file = "src/core/x.ts";
const hits = {
  [`${file}#open`]: { "test/a.test.ts": ["opens"], "test/b.test.ts": null },
  [`${file}#shut`]: { "test/c.test.ts": ["shuts"] },
  "src/core/xy.ts#open": { "test/d.test.ts": ["opens another"] },
};
const both = "export function open() {}\nexport const shut = () => open();";

test.each([
  ["the functions that were measured", both, []],
  ["the same in another order", both.split("\n").toReversed().join("\n"), []],
  [
    "a function with another name",
    both.replace("shut", "close"),
    ["test/a.test.ts", "test/b.test.ts", "test/c.test.ts"],
  ],
  ["one function more", `${both}\nconst more = () => {};`, ["test/a.test.ts", "test/b.test.ts", "test/c.test.ts"]],
  ["one function less", "export function open() {}", ["test/a.test.ts", "test/b.test.ts", "test/c.test.ts"]],
  ["nothing any more", "", ["test/a.test.ts", "test/b.test.ts", "test/c.test.ts"]],
])("a file with %s is measured by %j", (_what, source, tests) => {
  expect(enteringRenamed(hits, new Map([[file, source]])).toSorted()).toEqual(tests);
});

test("a file that no test has entered asks for none", () => {
  expect(enteringRenamed(hits, new Map([["src/core/new.ts", both]]))).toEqual([]);
});
