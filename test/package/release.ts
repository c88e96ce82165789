/** What is released next, and what a deployment of this release runs: both as files, from the folders of the check. */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, type Started } from "./world.ts";

/** Adds a migration to the laid-out next version, as a release that expands the tables has one. @returns its schema's version. */
export async function addMigration(packed: string): Promise<number> {
  const folder = join(packed, "belfry", "src", "postgres");
  const next = globSync("migrations/*.sql", { cwd: folder }).length + 1;
  const name = `${String(next).padStart(4, "0")}_expand_check.sql`;
  writeFileSync(join(folder, "migrations", name), "alter table belfry.job add column check_mark text;\n");
  const file = join(folder, "schema-version.js");
  const text = readFileSync(file, "utf8");
  const changed = text.replace(/schemaVersionOfCode = \d+/, `schemaVersionOfCode = ${next}`);
  if (changed === text) throw new Error("the package says its schema's version in another way now");
  writeFileSync(file, changed);
  await run(join(packed, "belfry"), "npm", "pack", "--pack-destination", packed);
  return next;
}

/** The synthesized code against the local services, from another folder: the migration function, then a scheduler's pass. */
export async function runBundles(project: string, { addresses: urls }: Started, databaseUrl: string): Promise<string> {
  const [image] = globSync("cdk.out/.belfry-prod/image/main.mjs", { cwd: project });
  const [migrate] = globSync("cdk.out/.belfry-prod/functions/migrate/index.mjs", { cwd: project });
  if (image === undefined || migrate === undefined)
    throw new Error("cdk synth left no bundles in cdk.out/.belfry-prod");
  const node = (await run(project, "npx", "node", "-p", "process.execPath")).trim();
  const environment = {
    BELFRY_STAGE: "prod",
    DATABASE_URL: databaseUrl,
    AWS_ENDPOINT_URL_SQS: urls.sqs,
    AWS_ENDPOINT_URL_DYNAMODB: urls.dynamodb,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "x",
    AWS_SECRET_ACCESS_KEY: "x",
    BELFRY_LOCK_TABLE: "belfry-dev-lock",
    BELFRY_QUEUE_URLS: JSON.stringify({ default: `${urls.sqs}/000000000000/belfry-dev-default` }),
    BELFRY_PASS_MS: "0",
  };
  const set = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const file = JSON.stringify(join(project, migrate));
  const release = `const { handler } = await import(${file}); console.log(JSON.stringify(await handler({ RequestType: "Update" }))); process.exit(0)`;
  const migrated = await run("/", "env", ...set, node, "--input-type=module", "-e", release);
  const passed = await run("/", "env", ...set, node, join(project, image), "pass");
  return `${lastLine(migrated)} ${lastLine(passed)}`;
}

const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.slice(0, 120) ?? "";
