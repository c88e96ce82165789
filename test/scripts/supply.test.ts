import { expect, test } from "vitest";
import { faultyLicences, missingParts } from "../../scripts/supply/judge.ts";

const part = (name: string, id: string) => ({ name, version: "1.0.0", licenses: [{ license: { id } }] });

test("a part with a licence that is not allowed, or with none, is named, and a choice needs one that is", () => {
  const choice = { name: "either", version: "1.0.0", licenses: [{ expression: "(MIT OR GPL-3.0-or-later)" }] };
  const both = { name: "both", version: "1.0.0", licenses: [{ expression: "MIT AND GPL-3.0-or-later" }] };
  const components = [
    part("good", "MIT"),
    part("bad", "AGPL-3.0-only"),
    { name: "silent", version: "2.0.0" },
    choice,
    both,
  ];
  expect(faultyLicences({ components }).map((line) => line.split(":")[0])).toEqual([
    "bad 1.0.0",
    "silent 2.0.0",
    "both 1.0.0",
  ]);
});

test("a part that is locked and not in the bill is named, but not one of another system", () => {
  const packages = {
    "": {},
    "node_modules/good": { version: "1.0.0" },
    "node_modules/a/node_modules/@scope/hidden": { version: "3.0.0" },
    "node_modules/darwin": { version: "1.0.0", optional: true },
  };
  expect(missingParts({ components: [part("good", "MIT")] }, { packages })).toEqual([
    "@scope/hidden 3.0.0 is in package-lock.json and not in the bill: npm ci",
  ]);
});
