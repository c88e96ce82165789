import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle } from "../../infra/bundle.ts";

// Outside the project, so that a bundle cannot find what it forgot to take along.
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "belfry-bundle-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (args: readonly string[]) =>
  spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", env: { PATH: process.env["PATH"] } });

test("the scheduler task runs from its one bundled file", () => {
  bundle("scheduler-task/main.ts", join(folder, "main.mjs"));
  const { status, stderr } = run(["main.mjs"]);
  expect(stderr).toContain("usage: ");
  expect(status).toBe(2);
});

test.each(["worker", "dead-letter"])("the bundled %s gets as far as reading its settings", (name) => {
  bundle(`functions/${name}.ts`, join(folder, `${name}.mjs`));
  const { status, stderr } = run([`${name}.mjs`]);
  expect(stderr).toContain("setting: DATABASE_URL (missing)");
  expect(status).toBe(1);
});
