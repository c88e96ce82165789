/**
 * What is published: laid out as `npm run package` does, without installing it. What its entries promise is committed, and does
 * not change without a line in the changelog.
 */
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { afterAll, beforeAll, expect, test } from "vitest";
import { layOut, type Packages } from "../../scripts/package/lay-out.ts";
import { surfaceFiles, surfaceMark } from "../../scripts/package/surface-files.ts";
import { type Surface, surfaces } from "../../scripts/package/surface.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
let out: string;
let packages: Packages;
let found: readonly Surface[];
beforeAll(async () => {
  out = mkdtempSync(join(tmpdir(), "belfry-tarball-"));
  packages = await layOut(out, "0.0.0-test");
  found = surfaces(packages.belfry);
}, 300_000);
afterAll(() => rmSync(out, { recursive: true, force: true }));

/** Into its own folder, which is deleted with it. */
const npmPack = (cwd: string, ...more: readonly string[]): string =>
  execFileSync("npm", ["pack", "--json", ...more], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
const sizeMax = 1_000_000;
const read = (file: string): string => readFileSync(join(packages.belfry, file), "utf8");
const manifest = (): { exports: Record<string, { types: string; default: string }>; dependencies: object } =>
  JSON.parse(read("package.json")) as ReturnType<typeof manifest>;

test("the folders and files of belfry are these, in less than a megabyte", () => {
  const [{ size, files }] = JSON.parse(npmPack(packages.belfry, "--dry-run")) as [
    { size: number; files: { path: string }[] },
  ];
  expect(size).toBeLessThan(sizeMax);
  const folders = files.map(({ path }) =>
    path
      .split("/")
      .slice(0, path.startsWith("src/") ? 2 : 1)
      .join("/"),
  );
  expect([...new Set(folders)].toSorted()).toMatchSnapshot("folders");
  expect(files.filter(({ path }) => path.endsWith(".ts") && !path.endsWith(".d.ts"))).toEqual([]);
  expect(
    files.filter(({ path }) =>
      /test|examples|bench/.test(path.replace("src/testing/", "").replaceAll("test-clock", "")),
    ),
  ).toEqual([]);
});

test("publint and attw find nothing", async () => {
  const { messages } = await publint({ pkgDir: packages.belfry, strict: true });
  expect(messages).toEqual([]);
  const [{ filename }] = JSON.parse(npmPack(packages.belfry)) as [{ filename: string }];
  const checked = await checkPackage(createPackageFromTarballData(readFileSync(join(packages.belfry, filename))));
  const problems = checked.types === false ? ["no types"] : checked.problems;
  // A CommonJS program reads it by require(esm), which every Node from 20.19 on has; node10 resolves no entry at all.
  const isKnown = (each: (typeof problems)[number]): boolean =>
    typeof each !== "string" &&
    (each.kind === "CJSResolvesToESM" || (each.kind === "NoResolution" && each.resolutionKind === "node10"));
  expect(problems.filter((each) => !isKnown(each))).toEqual([]);
});

test("each entry has its code and its types", () => {
  const { exports } = manifest();
  expect(Object.keys(exports).toSorted()).toMatchSnapshot("entries");
  for (const [entry, { types, default: code }] of Object.entries(exports).filter(
    ([name]) => name !== "./package.json",
  )) {
    expect({ entry, types: read(types).length > 0, code: read(code).length > 0 }).toEqual({
      entry,
      types: true,
      code: true,
    });
  }
});

test("what it installs is what its files import: no console, no local services, no CDK", () => {
  expect(Object.keys(manifest().dependencies)).toMatchSnapshot("dependencies");
  expect(readdirSync(packages["belfry-local"])).toEqual(["README.md", "index.js", "package.json"]);
  expect(readdirSync(packages["create-belfry"])).toEqual(["README.md", "index.mjs", "package.json"]);
});

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

/** What `create-belfry --here` wrote and said. */
function addedTo(files: Readonly<Record<string, string>>): { said: string; folders: readonly string[] } {
  const folder = join(mkdtempSync(join(out, "here-")), "shop");
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const main = join(packages["create-belfry"], "index.mjs");
  const said = execFileSync(process.execPath, [main, "--here"], { cwd: folder, encoding: "utf8" });
  return { said, folders: readdirSync(folder).toSorted() };
}

test("create-belfry adds to a project what it does not have, and says what is left to do", () => {
  const without = addedTo({ "package.json": "{}" });
  expect(without.folders).toEqual(["belfry.config.ts", "infra", "jobs", "package.json"]);
  expect(without.said).toContain("npm install belfry zod && npm install -D belfry-local esbuild aws-cdk");
  const within = addedTo({ "cdk.json": "{}" });
  expect(within.folders).toEqual(["belfry.config.ts", "cdk.json", "jobs"]);
  expect(within.said).toContain('new Belfry(this, "Belfry", { stage: "prod" });');
});

test("a project that create-belfry makes on this Node brings none of its own", () => {
  const folder = mkdtempSync(join(out, "new-"));
  execFileSync(process.execPath, [join(packages["create-belfry"], "index.mjs"), "shop"], { cwd: folder });
  const made = JSON.parse(readFileSync(join(folder, "shop/package.json"), "utf8")) as Record<string, unknown>;
  expect([made["name"], made["optionalDependencies"]]).toEqual(["shop", undefined]);
  expect(made).toHaveProperty(["dependencies", "belfry"]);
});

/** A file of this repository, as a message or a path would name it; a comment may. */
const ownSource = /^(?!\s*(\/?\*|\/\/)).*["'`][^"'`]*\b(src|infra|functions|scheduler-task)\/[\w/-]+\.ts\b/m;

test("no text in it names a source file that is not there", () => {
  const wrong = globSync("{src,functions,scheduler-task,infra,bin}/**/*.{js,mjs}", {
    cwd: packages.belfry,
    // Templates of a project, whose files are there then.
    exclude: ["src/scaffold/**"],
  }).filter(
    (file) =>
      ownSource.test(read(file)) || /new URL\("[^"]+\.ts"|import\("[^"]+\.ts"\)|from "[^"]+\.ts"/.test(read(file)),
  );
  expect(wrong).toEqual([]);
});

test("the entries that a CommonJS program requires await nothing while they load", () => {
  for (const entry of [".", "./cdk", "./connect", "./config"]) {
    const file = join(packages.belfry, manifest().exports[entry]?.default ?? "");
    expect(modulesOf(file).filter((each) => /^(const [^=]+= )?await /m.test(readFileSync(each, "utf8")))).toEqual([]);
  }
});

/** A module and all that it imports of the package, not by `import()`. */
function modulesOf(file: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/^(?:import|export)\s[^"]*"(\.[^"]+\.js)"/gm)) {
    modulesOf(join(file, "..", path), seen);
  }
  return [...seen];
}
