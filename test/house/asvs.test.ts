import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const rows = readFileSync(new URL("docs/asvs.md", root), "utf8")
  .split("\n")
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()));

test("each row of the ASVS table has requirements, an answer and its evidence, and every file it names is there", () => {
  expect(rows.length).toBeGreaterThan(80);
  const named = (text: string) => text.match(/\b(?:test|docs|infra|src)\/[\w./-]+\.(?:ts|md|txt)\b/g) ?? [];
  const faults = rows.flatMap(([, requirements = "", answer = "", evidence = ""]) => [
    ...(answer === "" || evidence === "" ? [`${requirements}: an empty cell`] : []),
    ...named(`${answer} ${evidence}`)
      .filter((file) => !existsSync(fileURLToPath(new URL(file, root))))
      .map((file) => `${requirements}: there is no ${file}`),
  ]);
  expect(faults).toEqual([]);
});
