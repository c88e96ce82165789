/**
 * `npm run demo [-- --json]`: the whole system on fresh state with all examples on their input, until their effects
 * are complete, judged by the targets' own ledgers. Exits 0 only if every check holds, 1 when a promise is broken, and 3
 * when this machine was too busy to show it. It goes on as long as it gets on.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Pool } from "pg";
import { type LocalEvent, type LocalSystem, startLocal } from "../../src/local/system.ts";
import { NotReady } from "../../src/local/process/ready-child.ts";
import { judgeAll } from "./judge-all.ts";
import { demoTime } from "./judges.ts";
import { TooSlow } from "./too-slow.ts";
import { type Report, reportOf, reportText } from "./report.ts";

const secondsMax = 900;
/** Longer than any example waits for its next time or retry, on a machine that is as busy as ten. */
const stuckMs = 180_000;
const lookMs = 500;
/** npm may pass on the Ctrl-C that the terminal has sent already. */
const sameSignalMs = 500;
const exitCodes = { pass: 0, broken: 1, usage: 2, slow: 3, interrupted: 130 } as const;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const options = readArguments(args);
  if (options === null) return exitCodes.usage;
  const interrupted = new AbortController();
  let firstMs = Infinity;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (performance.now() - firstMs > sameSignalMs) process.exit(exitCodes.interrupted);
      if (interrupted.signal.aborted) return;
      firstMs = performance.now();
      interrupted.abort();
      console.error(`${signal}: stopping; once more ends at once`);
    });
  }
  const home = mkdtempSync(join(tmpdir(), "belfry-demo-"));
  try {
    const report = await run(home, options.seconds, interrupted.signal);
    if (interrupted.signal.aborted) return exitCodes.interrupted;
    console.log(options.json ? JSON.stringify(report) : reportText(report));
    return exitCodes[report.verdict];
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    if (interrupted.signal.aborted) return exitCodes.interrupted;
    if (!(error instanceof NotReady || error instanceof TooSlow)) return exitCodes.broken;
    console.error("SLOW: this machine was too busy to show the promises, and none was seen broken");
    return exitCodes.slow;
  } finally {
    if (options.keep) console.error(`kept: ${home}`);
    else rmSync(home, { recursive: true, force: true });
  }
}

interface Arguments {
  readonly json: boolean;
  /** Leaves the state, logs and ledgers behind. */
  readonly keep: boolean;
  readonly seconds: number;
}

function readArguments(args: readonly string[]): Arguments | null {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { json: { type: "boolean" }, keep: { type: "boolean" }, seconds: { type: "string" } },
    });
    const seconds = Number(values.seconds ?? secondsMax);
    if (!(seconds > 0)) throw new Error(`--seconds is "${values.seconds}"; write a number above 0`);
    return { json: values.json === true, keep: values.keep === true, seconds };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error("usage: npm run demo -- [--json] [--keep] [--seconds N]");
    return null;
  }
}

async function run(home: string, seconds: number, signal: AbortSignal): Promise<Report> {
  const begin = performance.now();
  const elapsed = (): number => (performance.now() - begin) / 1_000;
  const say = (text: string): void => console.error(`${elapsed().toFixed(1).padStart(6)} s  ${text}`);
  say("starting Postgres, SQS, DynamoDB, the examples and their targets on fresh state");
  const system = await startLocal({
    home,
    stage: "demo",
    timeScale: demoTime.scale,
    environment: { ...withoutReplacements(process.env), BELFRY_TIME_START: demoTime.startsAt },
    without: ["watch"],
    onEvent: (event) => tell(event, say),
  });
  const db = new Pool({ connectionString: system.urls.database, max: 2 });
  db.on("error", () => {});
  try {
    say(`running, API ${system.urls.api ?? "off"}`);
    const watching = { lookMs, stuckMs, maxMs: seconds * 1_000, now: () => performance.now(), say, signal };
    const { examples, ended } = await judgeAll(system.urls.api ?? "", { db, ledgers: join(home, "fakes") }, watching);
    return reportOf(examples, ended, demoTime.scale, elapsed());
  } finally {
    await db.end();
    await system.stop();
    removeData(system);
  }
}

/** As root the database's files lie outside of the state folder. */
function removeData({ postgres }: LocalSystem): void {
  if (postgres !== null) rmSync(postgres.dataFolder, { recursive: true, force: true });
}

/** Fresh state means our own parts: a database or an endpoint that the environment names is left alone. */
function withoutReplacements(environment: NodeJS.ProcessEnv): Record<string, string | undefined> {
  const isOurs = (name: string): boolean => name !== "DATABASE_URL" && !name.startsWith("AWS_ENDPOINT_URL");
  return Object.fromEntries(Object.entries(environment).filter(([name]) => isOurs(name)));
}

function tell(event: LocalEvent, say: (text: string) => void): void {
  if (event.is === "problem") say(`${event.from}: ${event.what} ${String(event.error)}`);
  // Tries that fail are what the examples are about; how they end is judged.
  const isNews = event.is === "line" && /"level":"(WARN|ERROR)"/.test(event.line) && !/"job settled"/.test(event.line);
  if (isNews) say(`${event.from}: ${event.line}`);
}
