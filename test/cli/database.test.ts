import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { blankDatabase } from "../support/database.ts";
import { belfry } from "./harness.ts";
import { emptyFolder } from "../support/empty-folder.ts";

async function database(): Promise<string> {
  const { url, close } = await blankDatabase();
  onTestFinished(close);
  return url;
}

test("migrate makes the tables of Belfry and of the stage's apps, and the second time finds nothing to do", async () => {
  const env = { DATABASE_URL: await database() };
  const first = await belfry(["migrate", "--stage", "demo"], { env });
  expect(first.code).toBe(0);
  expect(first.out).toMatch(/^belfry: version \d+, applied 0001_jobs/);
  expect(first.out).toContain("batch-scheduler: version 2, applied 0001_outbox");
  const second = await belfry(["migrate", "--stage", "demo"], { env });
  const sets = second.out
    .trim()
    .split("\n")
    .filter((line) => !line.startsWith("next start: "));
  expect(sets[0]).toMatch(/^belfry: /);
  expect(sets).toContain("batch-scheduler: version 2, nothing to do");
  expect(sets.filter((line) => !/: version \d+, nothing to do$/.test(line))).toEqual([]);
});

test("migrate says how the stored schedules differ from what the deploy installs", async () => {
  const env = { DATABASE_URL: await database() };
  const { out } = await belfry(["migrate", "--stage", "prod"], { env });
  expect(out).toContain('next start: schedule "hello-every-minute" is new');
});

test("the doctor says that a database wants migrate, and that of a local system its start; migrate takes what is named alone", async () => {
  const folder = emptyFolder();
  const env = { DATABASE_URL: await database() };
  mkdirSync(join(folder, ".belfry"));
  writeFileSync(join(folder, ".belfry", "system.json"), JSON.stringify({ pid: process.pid, api: null, env }));
  const wants = (fix: string) => new RegExp(`wrong schema: .*\\n {6}bring it to this release: ${fix}`);
  expect((await belfry(["doctor"], { folder })).out).toMatch(wants("stop it, and npm start"));
  expect((await belfry(["doctor"], { folder, env })).out).toMatch(wants("npx belfry migrate"));
  expect(await belfry(["migrate"], { folder })).toMatchObject({ code: 2 });
  await belfry(["migrate"], { folder, env });
  expect((await belfry(["doctor"], { folder })).out).toMatch(/ok {4}schema: version \d+/);
  const elsewhere = await belfry(["doctor", "--url", "http://127.0.0.1:1"], { folder });
  expect(elsewhere.out).not.toContain("schema");
});

test("a database that does not answer is named, and nothing is shown of its password", async () => {
  const env = { DATABASE_URL: "postgresql://belfry:topsecret@127.0.0.1:9/belfry" };
  for (const args of [["migrate"], ["doctor", "--local"]]) {
    const { code, out, err } = await belfry(args, { env });
    expect(code).toBe(1);
    expect(out + err).toContain("127.0.0.1:9");
    expect(out + err).not.toContain("topsecret");
  }
});

test("migrate without a database says how to name one", async () => {
  expect(await belfry(["migrate"])).toMatchObject({ code: 2, err: expect.stringContaining("DATABASE_URL") });
});
