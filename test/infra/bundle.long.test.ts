import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle } from "../../infra/bundle.ts";
import { project } from "../support/own-project.ts";

// Outside the project, so that a bundle cannot find what it forgot to take along.
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "belfry-bundle-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (args: readonly string[]) =>
  spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", env: { PATH: process.env["PATH"] } });

test("the scheduler task runs from its one bundled file", async () => {
  await bundle("scheduler-task/main", join(folder, "main.mjs"), { project });
  const { status, stderr } = run(["main.mjs"]);
  expect(stderr).toContain("usage: ");
  expect(status).toBe(2);
});

test.each(["worker", "dead-letter"])("the bundled %s gets as far as reading its settings", async (name) => {
  await bundle(`functions/${name}`, join(folder, `${name}.mjs`), { project });
  const { status, stderr } = run([`${name}.mjs`]);
  expect(stderr).toContain("setting: DATABASE_URL (missing)");
  expect(stderr.length).toBeLessThan(10_000);
  expect(status).toBe(1);
});

test("a bundle takes along the files that its code reads beside itself", async () => {
  await bundle("functions/migrate", join(folder, "index.mjs"), { project });
  expect(readdirSync(join(folder, "src/postgres/migrations"))).toContain("0001_jobs.sql");
  expect(existsSync(join(folder, "examples/batch-scheduler/migrations"))).toBe(true);
  expect(readdirSync(join(folder, "examples/dag-batch/graphs"))).toContain("deep.json");
});
