import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stageNames } from "../support/own-project.ts";
import { belfry, serveApi } from "./harness.ts";
import { emptyFolder } from "../support/empty-folder.ts";

function folderWithSystem(system: object): string {
  const folder = emptyFolder();
  mkdirSync(join(folder, ".belfry"));
  writeFileSync(join(folder, ".belfry", "system.json"), JSON.stringify(system));
  const below = join(folder, "a", "b");
  mkdirSync(below, { recursive: true });
  return below;
}

test("the running system is found by its file, from any folder below", async () => {
  const { url } = await serveApi();
  const folder = folderWithSystem({ pid: process.pid, api: url });
  expect(await belfry(["jobs", "list"], { folder })).toMatchObject({ code: 0, out: "no jobs\n" });
});

test("a broken system file counts as no system", async () => {
  const folder = folderWithSystem({ pid: "x" });
  expect(await belfry(["jobs", "list"], { folder })).toMatchObject({ code: 1 });
});

test("the doctor names a system that ended without cleaning up", async () => {
  const folder = folderWithSystem({ pid: 2 ** 30, api: "http://127.0.0.1:9" });
  const { code, json } = await belfry(["doctor", "--local", "--json"], { folder });
  expect(code).toBe(1);
  expect(json.ok).toBe(false);
  const named = Object.fromEntries(json.findings.map((finding) => [finding.name, finding.ok]));
  expect(named).toMatchObject({ node: true, system: false, api: false });
  const wrong = json.findings.filter((finding) => !finding.ok);
  for (const finding of wrong) expect(finding.fix).toContain("npm start");
});

test("the doctor finds nothing wrong with an API that answers", async () => {
  const { url } = await serveApi();
  const { json } = await belfry(["doctor", "--local", "--json", "--url", url]);
  expect(json.findings).toContainEqual({
    name: "api",
    ok: true,
    detail: `${url}, version 1.2.3, schema 1, jobs: none`,
  });
});

test("check reads the definitions of every stage without a running system", async () => {
  const { code, json } = await belfry(["check", "--json"]);
  expect(json.stages.map((report) => [report.stage, report.problems])).toEqual(stageNames.map((name) => [name, []]));
  expect(code).toBe(0);
});

test("check reports every wrong setting of the environment at once, and does not miss what is not set", async () => {
  const env = { BELFRY_LOG_LEVEL: "loud", BELFRY_POOL_SIZE: "0", DATABASE_URL: "mysql://u:secret@h/d" };
  const { code, out } = await belfry(["check", "--stage", "prod"], { env });
  expect(code).toBe(1);
  for (const name of Object.keys(env)) expect(out).toContain(name);
  expect(out).not.toContain("secret");
  expect((await belfry(["check", "--stage", "prod", "--json"], { env })).json.environment).toHaveLength(3);
  expect((await belfry(["check", "--stage", "prod"])).code).toBe(0);
});

test("check --environment wants all that a process needs", async () => {
  const { code, json } = await belfry(["check", "--stage", "prod", "--environment", "--json"]);
  expect(code).toBe(1);
  expect(json.environment.map(({ field }) => field)).toEqual(["DATABASE_URL"]);
  const env = { DATABASE_URL: "postgresql://u@h/d" };
  const { json: next } = await belfry(["check", "--stage", "prod", "--environment", "--json"], { env });
  expect(next.environment.map(({ field }) => field)).toEqual(["AWS_REGION"]);
});

test("check refuses a stage that does not exist and names those that do", async () => {
  const { code, err } = await belfry(["check", "--stage", "production"]);
  expect(code).toBe(2);
  expect(err).toContain(stageNames.join(", "));
});

test.each([[[]], [["jobs"]]])("help is exit code 0 and lists the commands: %j", async (path) => {
  const { code, out } = await belfry([...path, "--help"]);
  expect(code).toBe(0);
  expect(out).toMatch(/Usage: belfry/);
});
