/**
 * `npm run package:check`: the packages from their tarballs alone, in an empty folder outside of the repository, as a new user has them.
 * `--keep` leaves the folder.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "../proof/until.ts";
import { passOrFail, step } from "../support/steps.ts";
import { writePrograms } from "./programs.ts";
import { run, type Started, start } from "./world.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const version = "0.1.0-check.1";
const nextVersion = "0.1.0-check.2";
const reloadMsMax = 60_000;
/** As a bundler's documentation says for CommonJS packages in an ES module. */
const banner = '--banner:js=import{createRequire}from"node:module";const require=createRequire(import.meta.url);';

process.exitCode = await passOrFail(async () => {
  const folder = mkdtempSync(join(tmpdir(), "belfry-package-"));
  try {
    await check(folder);
  } finally {
    if (!process.argv.includes("--keep")) rmSync(folder, { recursive: true, force: true });
  }
});

async function check(folder: string): Promise<void> {
  const project = join(folder, "my-jobs");
  await step("the machine has", async () => `Node ${(await run(folder, "node", "--version")).trim()}`);
  await step("the tarballs are made", () => pack(folder, version));
  await step("create-belfry writes a project", async () => {
    await run(folder, "node", join(folder, version, "create-belfry", "index.mjs"), "my-jobs");
    return readdirSync(project).join(" ");
  });
  await step("npm install", () => install(project, join(folder, version), version));
  await step("tsc", () => run(project, "npx", "tsc"));
  await step("belfry check", () => run(project, "npx", "belfry", "check"));
  await step("belfry check, started by the machine's own Node", () =>
    run(project, "node", "node_modules/belfry/bin/belfry.mjs", "check"),
  );
  await step("npm test", async () => /^# pass.*|^ℹ pass.*/m.exec(await run(project, "npm", "test"))?.[0] ?? "");
  await running(project, exercise);
  await step("cdk synth", () => synth(project));
  await step("a CommonJS CDK app synthesizes", () => run(project, "node", "cjs-app.cjs"));
  await step("the next version is installed", async () => {
    await pack(folder, nextVersion);
    await install(project, join(folder, nextVersion), nextVersion);
  });
  await running(project, async () => {
    const { jobs } = JSON.parse(await run(project, "npx", "belfry", "jobs", "list", "--json")) as { jobs: unknown[] };
    await step("it starts on the rows of the version before", async () => {
      if (jobs.length === 0) throw new Error("no job was kept");
      return `${jobs.length} jobs`;
    });
  });
}

async function pack(folder: string, of: string): Promise<string> {
  const out = join(folder, of);
  const written = await run(root, process.execPath, "scripts/package/main.ts", "--out", out, "--version", of);
  return written
    .split("\n")
    .map((line) => line.replace(out, "").trim())
    .join(" ")
    .trim();
}

/** A registry would give these for the names; nothing else of the project's manifest is touched. */
async function install(project: string, tarballs: string, of: string): Promise<void> {
  const file = join(project, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as Record<string, Record<string, string>>;
  manifest["dependencies"] = { ...manifest["dependencies"], belfry: `file:${tarballs}/belfry-${of}.tgz` };
  manifest["devDependencies"] = {
    ...manifest["devDependencies"],
    "belfry-local": `file:${tarballs}/belfry-local-${of}.tgz`,
  };
  writeFileSync(file, JSON.stringify(manifest, null, 2));
  await run(project, "npm", "install");
  writePrograms(project);
}

async function running(project: string, act: (project: string, system: Started) => Promise<void>): Promise<void> {
  const system = await step("npm start", () => start(project));
  try {
    await act(project, system);
  } finally {
    await step("Ctrl-C", async () => `code ${await system.stop()}`);
  }
}

async function exercise(project: string, system: Started): Promise<void> {
  await step("an enqueued job ends with SUCCESS", async () => {
    const { state } = await enqueue(project);
    if (state !== "SUCCESS") throw new Error(`it ended ${state}`);
    return state;
  });
  await step("an edit shows in the next run", async () => {
    edit(project, "jobs/index.ts", "Good morning", "Good evening");
    await until("the reload", reloadMsMax, () =>
      system.lines.some(({ is, file }) => is === "reloaded" && file === "index.ts"),
    );
    await enqueue(project);
    const logs = join(project, ".belfry", "log");
    await until("the new greeting", reloadMsMax, () =>
      readdirSync(logs).some((log) => readFileSync(join(logs, log), "utf8").includes("Good evening, Bob!")),
    );
  });
  await step("a rejected save is told once, with its place", async () => {
    edit(project, "jobs/index.ts", "export const greet = defineJob({", "export const greet = defineJob({{");
    const { error } = await until("the rejection", reloadMsMax, () => system.lines.find(({ is }) => is === "problem"));
    if (!/^jobs\/index\.ts:\d+  /.test(error ?? "")) throw new Error(`it said: ${error}`);
    edit(project, "jobs/index.ts", "defineJob({{", "defineJob({");
    return error;
  });
  await step("a bundled program enqueues in its own transaction, on the machine's own Node", async () => {
    await run(
      project,
      "npx",
      "esbuild",
      "server.ts",
      "--bundle",
      "--platform=node",
      "--format=esm",
      "--outfile=server.mjs",
      banner,
    );
    return (await run(project, "node", "server.mjs", databaseUrl(project, system), system.urls.sqs)).trim();
  });
}

async function enqueue(project: string): Promise<{ readonly state: string }> {
  const told = await run(project, "npx", "belfry", "jobs", "enqueue", "greet", '{"name":"Bob"}', "--wait", "--json");
  return JSON.parse(told) as { readonly state: string };
}

function edit(project: string, file: string, from: string, to: string): void {
  const path = join(project, file);
  const text = readFileSync(path, "utf8");
  if (!text.includes(from)) throw new Error(`${file} has no ${JSON.stringify(from)}`);
  writeFileSync(path, text.replace(from, to));
}

/** What is printed hides the password. */
function databaseUrl(project: string, { urls }: Started): string {
  const record = readFileSync(join(project, ".belfry/postgres/postgres.json"), "utf8");
  return urls.database.replace("***", (JSON.parse(record) as { password: string }).password);
}

async function synth(project: string): Promise<string> {
  await run(project, "npx", "cdk", "synth", "--quiet");
  const template = JSON.parse(readFileSync(join(project, "cdk.out/my-jobs-prod.template.json"), "utf8")) as {
    Resources: Record<string, unknown>;
  };
  return `${Object.keys(template.Resources).length} resources`;
}
