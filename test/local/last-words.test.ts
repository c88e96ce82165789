import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { withLastWords } from "../../src/local/process/children.ts";
import { freshFolder } from "./folder.ts";

/** What a process of the local system writes when the project's own code ends it. */
function lastWords(files: Readonly<Record<string, string>>): { status: number | null; stderr: string } {
  const folder = freshFolder();
  for (const [file, text] of Object.entries({ "package.json": '{ "type": "module" }', ...files })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const options = { cwd: folder, encoding: "utf8" } as const;
  return spawnSync(process.execPath, [...withLastWords, "entry.ts"], options);
}

const entry = 'await import("./jobs/app.ts");\n';

test.each<[string, Readonly<Record<string, string>>, string]>([
  [
    "V8 cannot compile a module that another one imports",
    {
      "jobs/app.ts": 'import { twice } from "./twice.ts";\nconsole.log(twice);\n',
      "jobs/twice.ts": "export const twice: number = 1;\n\nconst twice = 2;\n",
    },
    "jobs/twice.ts:3  SyntaxError: Identifier 'twice' has already been declared",
  ],
  [
    "TypeScript cannot be read",
    { "jobs/app.ts": "export default {\n  a: 1\n  b: 2\n};\n" },
    "jobs/app.ts:3  SyntaxError: Expected ',', got 'ident'",
  ],
  [
    "a file is missing",
    { "jobs/app.ts": 'import "./gone.ts";\n' },
    "jobs/app.ts  Error: Cannot find module 'jobs/gone.ts'",
  ],
  [
    "a package does not export a path",
    {
      "jobs/app.ts": 'import "kit/other";\n',
      "node_modules/kit/package.json": '{ "name": "kit", "exports": { ".": "./index.js" } }',
    },
    "jobs/app.ts  Error: Package subpath './other' is not defined by \"exports\" in node_modules/kit/package.json",
  ],
  [
    "a package is not installed",
    { "jobs/app.ts": 'import "kit";\n' },
    'jobs/app.ts  package "kit" is not installed: npm install kit',
  ],
  [
    "a module throws",
    { "jobs/app.ts": "const none = undefined as unknown as { a: { b: 1 } };\nconsole.log(none.a.b);\n" },
    "jobs/app.ts:2  TypeError: Cannot read properties of undefined (reading 'a')",
  ],
])("one line with its place when %s", (_, files, line) => {
  const { status, stderr } = lastWords({ "entry.ts": entry, ...files });
  expect(stderr).toBe(`${line}\n`);
  expect(status).toBe(1);
});

test("TypeScript modules of a CommonJS project are loaded without a word", () => {
  const files = { "entry.ts": 'import("./jobs/app.ts");\n', "jobs/app.ts": 'export const lane: string = "mail";\n' };
  expect(lastWords({ "package.json": "{}", ...files })).toMatchObject({ status: 0, stderr: "" });
});
