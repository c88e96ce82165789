import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { mutants } from "./mutants.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const patches = Object.entries(mutants).flatMap(([guard, all]) => all.map((patch) => ({ guard, ...patch })));

test.each(patches)("the guard $guard is where a proof takes it away from: $file", ({ file, from }) => {
  expect(readFileSync(root + file, "utf8").split(from).length).toBeGreaterThan(1);
});
