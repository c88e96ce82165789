#!/usr/bin/env node
/** `npm start`: the local system in a terminal. */
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { recordLoaded } from "../stage/loaded-files.ts";
import { compiledElsewhere } from "./code.ts";
import { configFileOf } from "../stage/project.ts";
import { AlreadyRunning, FolderGone } from "./home.ts";
import { collectOnce } from "./process/collect-once.ts";
import { isPortTaken } from "./process/free-port.ts";
import { freeSpaceOf, isDiskFull } from "./process/log-file.ts";
import { SetupFailed } from "./setup/run-setup.ts";
import { humanScreen, jsonScreen, type Screen } from "./screen.ts";
import { statusLine, statusReader } from "./status.ts";
import { type LocalSystem, startLocal } from "./system.ts";
import { thrownAt } from "../stage/thrown-at.ts";

const usage = `usage: belfry dev [options]
  --port N     of the API (4400, or a free one when that is taken)
  --stage NAME of belfry.config.ts (dev)
  --examples   the stage examples of belfry.config.ts
  --json       one JSON object a line
  --inspect[=PORT]
               debuggers may attach to workers and tasks, from this port on (9229)
The state lies in .belfry beside belfry.config.ts (BELFRY_HOME overrides) and survives. DATABASE_URL and AWS_ENDPOINT_URL* replace parts.`;

/** A killed process holds its port until the last of its threads has ended. */
const portFreedMs = 5_000;
const defaultPort = 4_400;
/** As Node's own. */
const inspectPort = 9_229;
const statusMs = 1_000;
/** Each look is four statements: an idle system shall cost little. */
const quietLooks = 3;
const stopMsMax = 19_000;
/** A program between may pass on the Ctrl-C that the terminal has sent already. */
const sameSignalMs = 500;
const exitCodes = { stopped: 0, failed: 1, usage: 2, interrupted: 130 } as const;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const options = readArguments(args);
  if (options === null) return exitCodes.usage;
  if (options.help) {
    console.log(usage);
    return exitCodes.stopped;
  }
  const screen = options.json ? jsonScreen(process.stdout) : humanScreen(process.stdout);
  const stopped = untilSignal(screen);
  let endedBy: string | null = null;
  void stopped.then((signal) => (endedBy = signal));
  try {
    // The terminal sends Ctrl-C to what sets up Postgres too: its end is no error then.
    const system = await start(options, screen).catch((error: unknown) => {
      if (endedBy === "SIGINT") return null;
      throw error;
    });
    if (system === null) return exitCodes.interrupted;
    await follow(system, screen, stopped);
    return codeOf(endedBy);
  } catch (error) {
    screen.close();
    console.error(`error: ${textOf(error)}`);
    return exitCodes.failed;
  }
}

interface Arguments {
  readonly port: number | null;
  readonly stage: string;
  readonly json: boolean;
  readonly inspectPort: number | null;
  readonly help: boolean;
}

function readArguments(args: readonly string[]): Arguments | null {
  try {
    const { values, positionals } = parseArgs({
      // An option whose value may be left out.
      args: args.map((each) => (each === "--inspect" ? `--inspect=${inspectPort}` : each)),
      allowPositionals: true,
      options: {
        port: { type: "string" },
        stage: { type: "string" },
        examples: { type: "boolean" },
        json: { type: "boolean" },
        inspect: { type: "string" },
        help: { type: "boolean" },
      },
    });
    const port = portIn("--port", values.port);
    const [command = "start", ...rest] = positionals;
    if (command !== "start" || rest.length > 0) throw new Error(usage);
    return {
      port,
      stage: stageOf(values, process.env["BELFRY_STAGE"]),
      json: values.json === true,
      inspectPort: portIn("--inspect", values.inspect),
      help: values.help === true,
    };
  } catch (error) {
    console.error(textOf(error));
    return null;
  }
}

function portIn(option: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new Error(`${option} is "${text}"; it must be a number from 1 to 65535`);
}

function stageOf({ stage, examples }: { stage?: string; examples?: boolean }, environment?: string): string {
  if (examples !== true) return stage ?? environment ?? "dev";
  if (stage !== undefined) throw new Error("--examples is a stage of its own: leave out --stage");
  return "examples";
}

async function start({ port, stage, inspectPort: debugs }: Arguments, screen: Screen): Promise<LocalSystem> {
  const begin = performance.now();
  recordLoaded(compiledElsewhere);
  collectOnce();
  const scale = process.env["BELFRY_TIME_SCALE"] || "1";
  if (scale !== "1") {
    throw new Error(
      `BELFRY_TIME_SCALE is "${scale}", and this system runs in real time: unset it; npm run demo is faster`,
    );
  }
  const project = configFileOf(process.env, process.cwd());
  const home = process.env["BELFRY_HOME"] || join(dirname(project), ".belfry");
  if (debugs !== null && (await isPortTaken(debugs)))
    throw new Error(`port ${debugs} is taken by another program: choose another with --inspect=PORT`);
  const system = await startLocal({
    inspectPort: debugs,
    home,
    project,
    stage,
    port: async (hadLeftovers) => {
      const isTaken = await isPortTaken(port ?? defaultPort, hadLeftovers ? portFreedMs : 0);
      if (isTaken && port !== null) {
        throw new Error(
          `port ${port} is taken by another program: choose another with --port, or leave it out for a free one`,
        );
      }
      if (port !== null) return [port];
      return isTaken ? [0] : [defaultPort, 0];
    },
    onEvent: (event) => screen.event(event),
  }).catch((error: unknown) => {
    if (!isDiskFull(error)) throw error;
    throw new Error(`the disk is full, ${freeSpaceOf(home)}: free some space, then start again; nothing is lost`);
  });
  const portNote =
    port === null && system.urls.api?.endsWith(`:${defaultPort}`) === false
      ? `port ${defaultPort} is taken, so the API is on a free one; --port chooses another`
      : null;
  screen.started(system, { ms: performance.now() - begin, portNote });
  return system;
}

/** Shows the status each second, and every third one while nothing changes, until a signal comes; then stops the system. @throws FolderGone */
async function follow(system: LocalSystem, screen: Screen, stopped: Promise<string>): Promise<void> {
  const status = statusReader(system.urls.database);
  let shown = "";
  let isReading = false;
  let pauses = 0;
  const timer = setInterval(() => {
    pauses -= 1;
    if (isReading || pauses > 0) return;
    isReading = true;
    void status
      .read()
      .then(
        (read) => {
          const line = statusLine(read);
          pauses = line === shown ? quietLooks : 0;
          screen.live((shown = line));
        },
        () => {},
      )
      .finally(() => (isReading = false));
  }, statusMs);
  process.once("uncaughtException", (error) => void endAfter(error, system, screen));
  const signal = await Promise.race([stopped, system.gone]);
  clearInterval(timer);
  if (signal instanceof FolderGone) {
    await Promise.allSettled([status.close(), system.kill()]);
    throw signal;
  }
  screen.note(`${signal}: stopping, running jobs may end; once more ends at once`);
  await status.close();
  await system.stop();
  screen.close();
}

/** A defect of this process must not leave a Postgres and workers that no process looks after. */
async function endAfter(error: Error, system: LocalSystem, screen: Screen): Promise<void> {
  screen.close();
  console.error("error:", error);
  await system.kill();
  process.exit(exitCodes.failed);
}

function codeOf(signal: string | null): number {
  return signal === "SIGINT" ? exitCodes.interrupted : exitCodes.stopped;
}

/** What has not ended this long after the first signal is killed, as all is at once by a second one. Postgres keeps what was committed. */
function untilSignal(screen: Screen): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let firstMs: number | null = null;
  const take = (signal: string): void => {
    if (firstMs === null) {
      firstMs = performance.now();
      setTimeout(() => {
        screen.note("killing what has not stopped");
        process.exit(codeOf(signal));
      }, stopMsMax).unref();
      return resolve(signal);
    }
    if (performance.now() - firstMs > sameSignalMs) process.exit(exitCodes.interrupted);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, take);
  return promise;
}

function textOf(error: unknown): string {
  if (error instanceof AlreadyRunning || error instanceof SetupFailed) return error.message;
  const thrown =
    error instanceof SyntaxError ? thrownAt(error, dirname(configFileOf(process.env, process.cwd()))) : null;
  return thrown ?? (error instanceof Error ? error.message : String(error));
}
