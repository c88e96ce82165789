/** The code of the tutorial and the guides: it compiles, its definitions pass check, and its tests run. */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AppDefinition } from "../../src/define/definition.ts";
import { checkApps } from "../../src/define/check.ts";
import { blocksOf } from "./blocks.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
// Inside the package, so that `belfry` resolves; git ignores it.
const folder = `${root}.belfry/guides-${process.pid}/`;
// The Korean pages have the same code: korean.test.ts.
const guides = readdirSync(`${root}docs/guides`).filter((name) => !name.endsWith(".ko.md"));
const pages = ["docs/tutorial.md", ...guides.map((name) => `docs/guides/${name}`)];
const execute = promisify(execFile);

interface Code {
  readonly page: string;
  readonly file: string | undefined;
  readonly text: string;
}

const codes: readonly Code[] = pages.flatMap((page) =>
  blocksOf(readFileSync(root + page, "utf8"))
    .filter(({ language }) => language === "ts")
    .map(({ text }) => ({ page, file: /^\/\/ (\S+\.ts)\n/.exec(text)?.[1], text })),
);
const pathOf = ({ page, file }: Code): string => `${folder}${basename(page, ".md")}/${file ?? "unnamed.ts"}`;

beforeAll(() => {
  for (const code of codes) {
    mkdirSync(dirname(pathOf(code)), { recursive: true });
    writeFileSync(pathOf(code), code.text);
  }
  mkdirSync(`${folder}tutorial/jobs/sql`, { recursive: true });
  const [, sql = ""] = /Put `(create table [^`]+)` into/.exec(readFileSync(`${root}docs/tutorial.md`, "utf8")) ?? [];
  writeFileSync(`${folder}tutorial/jobs/sql/0001_sale.sql`, sql);
  writeFileSync(`${folder}tutorial/jobs/index.ts`, 'export { default } from "./reports.ts";\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("every block of code says which file it is", () => {
  expect(codes.length).toBeGreaterThan(10);
  expect(codes.filter(({ file }) => file === undefined)).toEqual([]);
});

test("it compiles as it stands", async () => {
  // As in a new project.
  const options = { noUnusedLocals: false, exactOptionalPropertyTypes: false, noEmit: true };
  const config = {
    extends: `${root}tsconfig.json`,
    compilerOptions: options,
    include: ["**/*.ts", `${root}src/local/services/*.d.ts`],
  };
  writeFileSync(`${folder}tsconfig.json`, JSON.stringify(config));
  const tsc = execute(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "-p", folder], { cwd: root });
  expect(await tsc.catch(({ stdout }: { stdout: string }) => ({ stdout }))).toMatchObject({ stdout: "" });
}, 150_000);

test.each(codes.filter(({ file }) => file?.startsWith("jobs/")))("$page $file passes check", async (code) => {
  const { default: app } = (await import(pathToFileURL(pathOf(code)).href)) as { default: AppDefinition };
  expect(checkApps([app], "prod", ["dev", "prod"])).toEqual([]);
});

test.each(codes.filter(({ file }) => file?.startsWith("test/")))(
  "$page $file passes",
  async (code) => {
    const { stdout } = await execute(process.execPath, ["--test", pathOf(code)], { cwd: root });
    expect(stdout).toMatch(/(#|ℹ) fail 0/);
  },
  200_000,
);
