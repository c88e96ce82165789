/** The public surface: what the entries promise is committed, and does not change without a line in the changelog. */
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { layOut } from "../../scripts/package/lay-out.ts";
import { surfaceFiles, surfaceMark } from "../../scripts/package/surface-files.ts";
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
  for (const [file, text] of files)
    expect({ file, text: readFileSync(join(root, file), "utf8") }).toEqual({ file, text });
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

test("a changed report has its line in CHANGELOG.md, whose mark names the reports it speaks of", () => {
  const [unreleased] = readFileSync(join(root, "CHANGELOG.md"), "utf8").split(/^## \[\d/m);
  const mark = surfaceMark(found);
  expect(unreleased, `api/ changed: write for users what changed, then set the mark to ${mark}`).toContain(mark);
});
