/**
 * The task of the examples' outside targets in a deployed stage. `serve` runs their seeds and then them, at fixed ports;
 * `judge` also plays the people of the demonstration, waits for the effects, and writes what the judges of
 * `npm run demo` say of tables and ledgers, a line of JSON each. Runs until SIGTERM. A task that is started again has
 * lost its ledgers, and says so by what it judges.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Pool } from "pg";
import { loadFakes } from "../../../src/compose/apps.ts";
import { ownProject, stageNamed } from "../../../src/stage/project.ts";
import { databaseConnection } from "../../../src/compose/database.ts";
import { Children } from "../../../src/local/process/children.ts";
import { type Fakes, startFakes } from "../../../src/local/fakes.ts";
import { judgeAll } from "../../demo/judge-all.ts";
import { reportOf } from "../../demo/report.ts";
import { reachApi, triggerDaily } from "./api.ts";
import type { JudgeLine } from "./judge-line.ts";

const stopMs = 20_000;
/** In the system's time, which is faster on one machine. */
const lookMs = 15_000;
/** The demonstration takes 41 minutes of the system's time; functions and tasks start slower here. */
const judgedMsMax = 75 * 60_000;
/** In the system's time, as the looks. */
const stuckMs = 30 * 60_000;

const command = process.argv[2];
if (command === "serve" || command === "judge") await run(command);
else {
  console.error("usage: main.mjs serve|judge");
  process.exitCode = 2;
}

async function run(what: "serve" | "judge"): Promise<void> {
  const stop = new AbortController();
  const stopped = new Promise<null>((resolve) => stop.signal.addEventListener("abort", () => resolve(null)));
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort());
  const home = need("BELFRY_HOME");
  const children = new Children(home);
  // Also after an uncaught error: on one machine they would go on without this process.
  process.once("exit", () => children.killAll());
  const running = await Promise.race([start(home, children), stopped]);
  if (running !== null) {
    // What the task's health is judged by: nothing is woken before its targets are there.
    writeFileSync(join(home, "ready"), "");
    say({ progress: `the fakes serve ${Object.keys(running.env).toSorted().join(", ")}` });
    if (what === "judge") void judge(home, stop.signal).catch((error: unknown) => say({ failure: String(error) }));
    await stopped;
    await running.stop();
  }
  await children.stopAll(stopMs);
  process.exit(0);
}

async function start(home: string, children: Children): Promise<Fakes> {
  const ports = JSON.parse(need("FAKE_PORTS")) as Record<string, number>;
  const project = await ownProject();
  const fakes = await loadFakes(project, stageNamed(project, need("BELFRY_STAGE")));
  return startFakes(
    fakes.map(({ name, once }) => ({ name, once, file: join(import.meta.dirname, `${name}.mjs`) })),
    {
      children,
      home,
      env: process.env as Record<string, string>,
      portOf: (name) => ports[name],
      onLine: (line) => console.error(line),
    },
  );
}

async function judge(home: string, signal: AbortSignal): Promise<void> {
  const begin = performance.now();
  const elapsed = (): number => (performance.now() - begin) / 1_000;
  const api = await reachApi(need("BELFRY_URL"), need("AWS_REGION"));
  const scale = Number(process.env["BELFRY_TIME_SCALE"] ?? 1);
  const db = new Pool({ ...databaseConnection(), max: 2 });
  db.on("error", () => {});
  await triggerDaily(api);
  const watching = {
    lookMs: lookMs / scale,
    stuckMs: stuckMs / scale,
    maxMs: judgedMsMax,
    now: () => performance.now(),
    say: (progress: string) => say({ progress }),
    signal,
  };
  const { examples, ended } = await judgeAll(api, { db, ledgers: join(home, "fakes") }, watching);
  for (const example of examples) say({ example });
  const { examples: _, ...judged } = reportOf(examples, ended, scale, elapsed());
  say({ judged });
}

function say(line: JudgeLine): void {
  console.log(JSON.stringify(line));
}

function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: infra/constructs/fakes.ts gives it to this task`);
  return value;
}
