import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { schemaVersionOfCode } from "../../src/postgres/schema-version.ts";
import { testDatabase } from "../support/database.ts";
import { freshFolder } from "./folder.ts";
import { writeGreetingApp } from "./greeting-app.ts";
import { bareEnvironment } from "../support/bare-environment.ts";

const root = new URL("../../", import.meta.url);
const entries = {
  "the scheduler task": ["scheduler-task/main.ts", "pass"],
  "the task of a schedule's own rule": ["scheduler-task/main.ts", "run-schedule", "greet-often"],
  "a worker": ["src/local/lambda/sandbox-runner.ts", fileURLToPath(new URL("functions/worker.ts", root))],
  "the dead-letter drain": [
    "src/local/lambda/sandbox-runner.ts",
    fileURLToPath(new URL("functions/dead-letter.ts", root)),
  ],
  "the API": ["src/local/api-server.ts"],
} as const;

/** Starts an entry on a database and waits for its end, after SIGTERM once it has said `until`. */
async function start(
  entry: readonly string[],
  url: string,
  { env = {}, until = null }: { env?: Record<string, string>; until?: RegExp | null } = {},
): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [...entry], {
    cwd: fileURLToPath(root),
    env: {
      ...bareEnvironment,
      DATABASE_URL: url,
      // No server listens there: what goes on in spite of the database does not get far.
      AWS_ENDPOINT_URL: "http://127.0.0.1:9",
      BELFRY_APPS: writeGreetingApp(freshFolder(), "hello").href,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (until?.test(said) === true) child.kill("SIGTERM");
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, said };
}

const losesNothing = `do $$ begin execute format('alter database %I set synchronous_commit = on', current_database()); end $$`;

test("a service makes one pass after the other in one process, until SIGTERM", async () => {
  const { url, pool } = await testDatabase({ own: true });
  await pool.query(losesNothing);
  // The lock store is away, so that each pass takes the lock in Postgres.
  const { code, said } = await start(["scheduler-task/main.ts", "serve"], url, {
    env: { BELFRY_PASS_MS: "200" },
    until: /("report":"pass","outcome":"done"[^]*){2}/,
  });
  expect(said.match(/\{"report":"pass","outcome":"done"/g)?.length).toBeGreaterThanOrEqual(2);
  expect(code).toBe(0);
}, 120_000);

test("a service does not go on where its settings or its tables are wrong", async () => {
  const { url, pool } = await testDatabase({ own: true });
  await pool.query(losesNothing);
  await pool.query("delete from belfry.migration where set = 'belfry' and number = $1", [schemaVersionOfCode]);
  expect(await start(["scheduler-task/main.ts", "serve"], url)).toMatchObject({ code: 1 });
}, 120_000);

test.each(Object.entries(entries))("%s does not start on a database at another schema version", async (_, entry) => {
  const { url, pool } = await testDatabase({ own: true });
  await pool.query(losesNothing);
  await pool.query("delete from belfry.migration where set = 'belfry' and number = $1", [schemaVersionOfCode]);
  const { code, said } = await start(entry, url);
  expect(said).toContain(
    `the database is at schema version ${schemaVersionOfCode - 1}, this code needs ${schemaVersionOfCode}: run \`npx belfry migrate\``,
  );
  expect(code).toBe(1);
});

test("nor on a server that would lose what was answered for", async () => {
  const { url } = await testDatabase({ own: true });
  const { code, said } = await start(entries["a worker"], url);
  expect(said).toContain("synchronous_commit is off");
  expect(code).toBe(1);
});
