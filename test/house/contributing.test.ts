import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readSource } from "./imports.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readSource("CONTRIBUTING.md");
const { scripts } = JSON.parse(readSource("package.json")) as { scripts: Record<string, string> };

const missing = (text: string): readonly string[] =>
  [...text.matchAll(/`((?:src|test|functions|scheduler-task|infra|examples|docs|scripts)\/[\w./-]+)`/g)]
    .map(([, path = ""]) => path)
    .filter((path) => !/NAME/.test(path) && !existsSync(root + path));

const unknown = (text: string): readonly string[] =>
  [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name = ""]) => name).filter((name) => !(name in scripts));

test("CONTRIBUTING.md names only files and scripts that exist", () => {
  expect(page.length).toBeGreaterThan(5_000);
  expect(missing(page)).toEqual([]);
  expect(unknown(page)).toEqual([]);
});

test("a file that moved and a script that is gone are found", () => {
  expect(missing("`src/core/moved.ts`")).toEqual(["src/core/moved.ts"]);
  expect(unknown("npm run gone")).toEqual(["gone"]);
});
