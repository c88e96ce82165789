import { execFile } from "node:child_process";
import { bareEnvironment } from "../support/bare-environment.ts";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalSystem, startLocal } from "../../src/local/system.ts";
import { until } from "../local/until.ts";
import { blocksOf, commandsOf } from "./blocks.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = readFileSync(`${root}README.md`, "utf8");
const blocks = blocksOf(readme + readFileSync(`${root}docs/operate.md`, "utf8"));
const [job = "", program = "", ...moreCode] = blocks.filter((each) => each.language === "ts").map((each) => each.text);

// Inside the package, so that `belfry` resolves; git ignores it.
const folder = `${root}.belfry/readme-${process.pid}/`;

/** What the second block has from the program around it. */
const around = `import pg from "pg";
import { greet } from "./job.ts";
const name = "Grace";
const client = new pg.Client(process.env.DATABASE_URL);
await client.connect();
`;

/** Run once to set the project up, and by \`.ci/run\`: they would start this test again, or need an account. */
const runElsewhere = [/^npm (ci|start|test|run) /, /^npx cdk /, /^git /];

let system: LocalSystem;

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}job.ts`, job.replace("const greet", "export const greet"));
  writeFileSync(`${folder}program.ts`, `${around}${program}await client.end();\n`);
  writeFileSync(
    `${folder}apps.ts`,
    `import { defineApp, defineJob, PermanentError } from "belfry";
import hello from "../../jobs/hello.ts";
import greetings from "./job.ts";
const broken = defineJob({ id: "broken", run: () => { throw new PermanentError("no such account", { code: "GONE" }); } });
export default [hello, greetings, defineApp({ name: "faults", jobs: [broken], schedules: [] })];
`,
  );
  const apps = [pathToFileURL(`${folder}apps.ts`)];
  const environment = { ...bareEnvironment, TZ: process.env["TZ"] };
  const settings = { postgresSettings: { fsync: "off" }, without: ["fakes", "watch"] as const };
  system = await startLocal({ home: `${folder}home`, apps, environment, ...settings });
}, 150_000);

afterAll(async () => {
  await system.stop();
  rmSync(folder, { recursive: true, force: true });
});

const execute = promisify(execFile);

/** Not spawnSync: parts of the system live in this process, and must go on answering. */
async function run(command: string, args: readonly string[]): Promise<{ code: number; out: string }> {
  const env = { ...process.env, ...system.env, BELFRY_HOME: system.home };
  try {
    const { stdout, stderr } = await execute(command, args, { cwd: root, env, timeout: 60_000 });
    return { code: 0, out: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: `${stdout}${stderr}` };
  }
}

const belfry = (line: string): Promise<{ code: number; out: string }> =>
  run("sh", ["-c", line.replaceAll("npx belfry", `"${process.execPath}" bin/belfry.mjs`)]);

/** The newest job of a kind once it has that state. */
const jobIn = (kind: string, state: string): Promise<string> =>
  until(
    `a job of kind ${kind} in ${state}`,
    async () => {
      const answer = await fetch(`${system.urls.api}/jobs?kind=${kind}&state=${state}`);
      const { jobs } = (await answer.json()) as { jobs: { id: string }[] };
      return jobs[0]?.id;
    },
    100_000,
  );

test("every block has a language that a check knows", () => {
  expect(blocks.filter((each) => !["sh", "ts", "mermaid", "text"].includes(each.language))).toEqual([]);
  expect(moreCode).toEqual([]);
});

test("the code compiles as it stands", async () => {
  writeFileSync(`${folder}tsconfig.json`, JSON.stringify({ extends: `${root}tsconfig.json`, include: ["*.ts"] }));
  const tsc = await run(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "--noEmit", "-p", folder]);
  expect(tsc).toMatchObject({ code: 0, out: "" });
}, 150_000);

test("the job's twelve lines are twelve", () => {
  expect(job.trim().split("\n").length).toBe(12);
});

test("a program's transaction leaves its row and its job, and the job runs", async () => {
  const client = new pg.Client(system.urls.database);
  await client.connect();
  await client.query("create table account (name text)");
  expect(await run(process.execPath, [`${folder}program.ts`])).toMatchObject({ code: 0 });
  expect((await client.query("select name from account")).rows).toEqual([{ name: "Grace" }]);
  await client.end();
  expect(await jobIn("greet", "SUCCESS")).toMatch(/^\d+$/);
}, 150_000);

const lines = blocks.filter((each) => each.language === "sh").flatMap(commandsOf);

test.each(lines.filter((line) => !runElsewhere.some((other) => other.test(line))))(
  "%s",
  async (line) => {
    expect(await belfry("npx belfry jobs enqueue broken")).toMatchObject({ code: 0 });
    const id = await jobIn("broken", "FAILED");
    const result = await belfry(line.replaceAll(/\b42\b/g, id));
    expect(result.code === 0 ? "" : result.out).toBe("");
  },
  150_000,
);
