/**
 * `npm run package:check`: the packages from their tarballs alone, in an empty folder outside of the repository, as a new user has them.
 * `--all` adds the slow combinations, `--keep` leaves the folder.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "../proof/until.ts";
import { withPassword } from "../support/local-start.ts";
import { passOrFail, step } from "../support/steps.ts";
import { combinations, passed } from "./combinations.ts";
import { firstDeployment } from "./first-deployment.ts";
import { writePrograms } from "./programs.ts";
import { addMigration, runBundles } from "./release.ts";
import { run, type Started, start } from "./world.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const version = "0.1.0-check.1";
const nextVersion = "0.1.0-check.2";
const reloadMsMax = 60_000;
/** 53 seen: the AWS SDK 30, zod 9, Belfry 5. */
const installedMbMax = 56;
const isAll = process.argv.includes("--all");
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
  await step("npm test", async () => passed(await run(project, "npm", "test")));
  await running(project, exercise);
  await step("a CommonJS CDK app synthesizes", () => run(project, "node", "cjs-app.cjs"));
  await firstDeployment(folder, project);
  if (isAll) {
    await step("what a program that only enqueues installs", () => installedSize(folder));
    await combinations(folder, { folder: join(folder, version), version });
  }
  await step("the next version is installed", async () => {
    await pack(folder, nextVersion);
    const schema = isAll ? `schema version ${await addMigration(join(folder, nextVersion))}` : "the same schema";
    await install(project, join(folder, nextVersion), nextVersion);
    return schema;
  });
  await running(project, async (_, system) => {
    const { jobs } = JSON.parse(await run(project, "npx", "belfry", "jobs", "list", "--json")) as { jobs: unknown[] };
    await step("it starts on the rows of the version before", async () => {
      if (jobs.length === 0) throw new Error("no job was kept");
      const look = `const { default: pg } = await import("pg"); const client = new pg.Client(process.argv[1]);
        await client.connect(); await client.query("select check_mark from belfry.job"); await client.end();`;
      if (isAll) await run(project, "node", "--input-type=module", "-e", look, databaseUrl(project, system));
      return `${jobs.length} jobs`;
    });
    await step("a job ends with SUCCESS there too", async () => (await enqueue(project)).state);
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
  await step("a save that TypeScript refuses is shown with its place", () =>
    rejected(project, system, "defineJob({", "defineJob({{"),
  );
  await step("a save that V8 refuses is shown with its place", () =>
    rejected(project, system, "export const greet", "const greet = 1;\nexport const greet"),
  );
  for (const [format, out, ...more] of [
    ["esm", "server.mjs", banner],
    ["cjs", "server.cjs"], // the default of NodejsFunction
  ] as const) {
    await step(
      `a program bundled as ${format} enqueues in its own transaction, on the machine's own Node`,
      async () => {
        const options = ["--bundle", "--platform=node", `--format=${format}`, `--outfile=${out}`, ...more];
        await run(project, "npx", "esbuild", "server.ts", ...options);
        return (await run(project, "node", out, databaseUrl(project, system), system.addresses.sqs)).trim();
      },
    );
  }
  await step("cdk synth", () => synth(project));
  if (!isAll) return;
  await step("the synthesized bundles run against the local services", () =>
    runBundles(project, system, databaseUrl(project, system)),
  );
}

/** Without the local system and what its users bring themselves. */
async function installedSize(folder: string): Promise<string> {
  const empty = join(folder, "only-runtime");
  mkdirSync(empty);
  writeFileSync(join(empty, "package.json"), JSON.stringify({ private: true }));
  await run(empty, "npm", "install", "--omit=optional", "--omit=peer", join(folder, version, `belfry-${version}.tgz`));
  const megabytes = Number((await run(empty, "du", "-sm", "node_modules")).split("\t")[0]);
  if (!(megabytes < installedMbMax)) throw new Error(`${megabytes} MB, at most ${installedMbMax} are allowed`);
  return `${megabytes} MB`;
}

async function enqueue(project: string): Promise<{ readonly state: string }> {
  const printed = await run(project, "npx", "belfry", "jobs", "enqueue", "greet", '{"name":"Bob"}', "--wait", "--json");
  return JSON.parse(printed) as { readonly state: string };
}

/** @returns the one line that says so. The file is as before then. */
async function rejected(project: string, system: Started, before: string, after: string): Promise<string> {
  const seen = system.lines.length;
  edit(project, "jobs/index.ts", before, after);
  const shown = (): readonly string[] =>
    system.lines.slice(seen).flatMap(({ is, error = "" }) => (is === "problem" ? [error] : []));
  const [error = ""] = await until("the rejection", reloadMsMax, () => (shown().length > 0 ? shown() : undefined));
  if (!/^jobs\/index\.ts:\d+  [^\n]+$/.test(error)) throw new Error(`it said: ${error}`);
  edit(project, "jobs/index.ts", after, before);
  await until("the reload", reloadMsMax, () => system.lines.slice(seen).some(({ is }) => is === "reloaded"));
  if (shown().length !== 1) throw new Error(`it was shown ${shown().length} times`);
  return error;
}

function edit(project: string, file: string, from: string, to: string): void {
  const path = join(project, file);
  const text = readFileSync(path, "utf8");
  if (!text.includes(from)) throw new Error(`${file} has no ${JSON.stringify(from)}`);
  writeFileSync(path, text.replace(from, to));
}

function databaseUrl(project: string, { addresses }: Started): string {
  return withPassword(addresses.database, join(project, ".belfry"));
}

async function synth(project: string): Promise<string> {
  await run(project, "npx", "cdk", "synth", "--quiet");
  const text = readFileSync(join(project, "cdk.out/my-jobs-prod.template.json"), "utf8");
  const template = JSON.parse(text) as { Resources: Record<string, unknown> };
  // A failed first deployment of a protected one could not be cleaned up.
  const manifest = readFileSync(join(project, "cdk.out/manifest.json"), "utf8");
  if (/"(terminationProtection|DeletionProtection)": true/.test(text + manifest)) {
    throw new Error("the first template of a new project is protected");
  }
  return `${Object.keys(template.Resources).length} resources`;
}
