/** The public surface: what the entries promise is committed, and does not change without a line in the changelog. */
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { layOut } from "../../scripts/package/lay-out.ts";
import { surfaceFiles } from "../../scripts/package/surface-files.ts";
import { type Surface, surfaces } from "../../scripts/package/surface.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const out = mkdtempSync(join(tmpdir(), "belfry-surface-"));
let found: readonly Surface[];
beforeAll(async () => {
  found = surfaces((await layOut(out, "0.0.0")).belfry);
}, 300_000);
afterAll(() => rmSync(out, { recursive: true, force: true }));

test("the reports in api/ and the pages in docs/reference/ are those of the code: npm run api", () => {
  const files = surfaceFiles(found);
  const committed = globSync(["api/*", "docs/reference/*"], { cwd: root });
  expect(committed.toSorted()).toEqual([...files.keys()].toSorted());
  for (const [file, text] of files) expect(readFileSync(join(root, file), "utf8"), file).toBe(text);
});

test("every type that a public one uses has a public name", () => {
  expect(found.flatMap(({ entry, unnamed }) => unnamed.map((name) => `${entry}: ${name}`))).toEqual([]);
});

test("a definition shows nothing of its inside", () => {
  const [belfry] = found;
  const fieldsOf = (type: string) =>
    belfry?.members.find(({ name }) => name === type)?.members?.map(({ name }) => name);
  expect(fieldsOf("AppDefinition")).toEqual(["is", "name"]);
  expect(fieldsOf("ScheduleDefinition")).toEqual(["id", "is"]);
});

test("CHANGELOG.md was changed with, or after, the last change of a report", () => {
  const git = (...args: readonly string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const isEdited = git("status", "--porcelain", "--", "CHANGELOG.md") !== "";
  const lastLine = git("log", "-1", "--format=%H", "--", "CHANGELOG.md");
  const later = git("diff", "--name-only", lastLine, "--", "api");
  expect(isEdited ? "" : later, "write what changed for users into CHANGELOG.md").toBe("");
});
