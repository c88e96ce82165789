import { spawnSync } from "node:child_process";
import { bareEnvironment } from "../support/bare-environment.ts";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { freshFolder } from "../local/folder.ts";

const belfry = fileURLToPath(new URL("../../", import.meta.url));
const config = `import { defineConfig } from "belfry/config";
export default defineConfig({ apps: { jobs: "./jobs/index.ts" }, stages: { dev: { deployed: false } } });
`;
const app = `import { defineApp } from "belfry";
import { twice } from "./twice.ts";
export default defineApp({ name: "jobs", jobs: [twice] });
`;
const twice = "export const twice: number = 1;\n\nconst twice = 2;\n";

/** A project, and what a command writes that is started below its root. */
function refused(
  files: Readonly<Record<string, string>>,
  command: readonly string[],
): readonly [number | null, string] {
  const root = freshFolder();
  const all = { "package.json": '{ "type": "module" }', "belfry.config.ts": config, "jobs/index.ts": app, ...files };
  for (const [file, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  mkdirSync(join(root, "node_modules"));
  symlinkSync(belfry, join(root, "node_modules", "belfry"));
  const env = { ...bareEnvironment, HOME: root, DATABASE_URL: "postgresql://belfry@127.0.0.1:9/belfry" };
  const bin = join(belfry, "bin", "belfry.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...command], {
    cwd: join(root, "jobs"),
    encoding: "utf8",
    env,
  });
  return [status, stdout + stderr];
}

const commands = [["check"], ["migrate"]];

test.each([...commands, ["bundle", "--stage", "dev", "--out", "bundle"]])(
  "%s reports a module that V8 cannot compile in one line with its place",
  (...command) => {
    const line = "error: jobs/twice.ts:3  SyntaxError: Identifier 'twice' has already been declared\n";
    expect(refused({ "jobs/twice.ts": twice }, command)).toEqual([1, line]);
  },
);

test.each(commands)("%s reports an import that is not exported in one line with its place", (...command) => {
  const line =
    "error: jobs/index.ts:2  SyntaxError: The requested module './twice.ts' does not provide an export named 'twice'\n";
  expect(refused({ "jobs/twice.ts": "export const thrice = 3;\n" }, command)).toEqual([1, line]);
});

test.each([...commands, ["dev"]])(
  "%s reports a config that cannot be compiled in one line with its place",
  (...command) => {
    const [first = ""] = config.split("\n", 1);
    const line = "error: belfry.config.ts:2  SyntaxError: Identifier 'defineConfig' has already been declared\n";
    expect(refused({ "belfry.config.ts": `${first}\n${config}` }, command)).toEqual([1, line]);
    const unread = "error: belfry.config.ts:2  SyntaxError: Expected ',', got ';'\n";
    expect(refused({ "belfry.config.ts": config.replace("} });", "};") }, command)).toEqual([1, unread]);
  },
);
