import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import pg from "pg";
import { installedPeers } from "../../bench/peers/installed.ts";
import type { Check } from "./check.ts";
import { run } from "./tools.ts";
import type { Target } from "./world.ts";

const bin = fileURLToPath(new URL("../../bin/belfry.mjs", import.meta.url));

/** What is used of the libraries: they are no dependencies of the project. */
interface Libraries {
  readonly PgBoss: new (options: object) => {
    on(event: "error", tell: () => void): void;
    start(): Promise<unknown>;
    stop(options: object): Promise<void>;
    createQueue(name: string, options: object): Promise<void>;
    send(name: string, data: object, options: object): Promise<string | null>;
    schedule(name: string, cron: string, data: object, options: object): Promise<void>;
  };
  runMigrations(options: object): Promise<void>;
}

async function library(name: string): Promise<Libraries> {
  const file = createRequire(join(await installedPeers(), "package.json")).resolve(name);
  return (await import(pathToFileURL(file).href)) as Libraries;
}

const to = "imported@example.org";
const startAfter = new Date(Date.now() + 86_400_000).toISOString();

/** Three jobs and a schedule in tables that each library makes itself. */
async function fill({ database }: Target): Promise<void> {
  const { PgBoss } = await library("pg-boss");
  const boss = new PgBoss({ connectionString: database, supervise: false, schedule: false });
  boss.on("error", () => {});
  await boss.start();
  await boss.createQueue("send-mail", { retryLimit: 3, retryDelay: 30, retryBackoff: true });
  for (let n = 0; n < 3; n += 1) await boss.send("send-mail", { to }, { startAfter });
  await boss.schedule("send-mail", "0 8 * * *", { to }, { tz: "Asia/Seoul" });
  await boss.stop({ graceful: false });
  const { runMigrations } = await library("graphile-worker");
  await runMigrations({ connectionString: database });
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  const add = "select graphile_worker.add_job('send-mail', $1::json, run_at => $2) from generate_series(1, 3)";
  await client.query(add, [JSON.stringify({ to }), startAfter]);
  await client.end();
}

async function wrongOf(from: string, { database, url }: Target): Promise<readonly string[]> {
  const answered = async (...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> => {
    const { output } = await run(process.execPath, [bin, "import", from, "--database", database, "--json", ...args]);
    const json = output.split("\n").find((line) => line.startsWith("{"));
    return JSON.parse(json ?? JSON.stringify({ said: output.slice(0, 300) })) as Readonly<Record<string, unknown>>;
  };
  const seen: readonly unknown[] = [
    (await answered())["waiting"],
    (await answered("--apply", "--url", url))["applied"],
    (await answered("--apply", "--url", url))["applied"],
  ];
  const expected = [
    [{ kind: "send-mail", count: 3, firstDueAt: startAfter }],
    { created: 3, existed: 0, failed: 0 },
    { created: 0, existed: 3, failed: 0 },
  ];
  return expected.flatMap((each, at) =>
    JSON.stringify(each) === JSON.stringify(seen[at])
      ? []
      : [`${from}: ${JSON.stringify(seen[at])} instead of ${JSON.stringify(each)}`],
  );
}

/** `belfry import` of the tables that the libraries make. */
export const importersCheck: Check = {
  name: "importers of pg-boss and graphile-worker",
  async run(target) {
    await fill(target);
    return [...(await wrongOf("pg-boss", target)), ...(await wrongOf("graphile-worker", target))];
  },
  faults: { "an API that is away": (target) => ({ target: { ...target, url: "http://127.0.0.1:9" } }) },
};
