/** A folder outside of the repository, and programs run in it as a user does: with the machine's own Node, not ours. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { until } from "../proof/until.ts";

const execute = promisify(execFile);
const outputBytesMax = 32 * 1024 * 1024;
const startMsMax = 120_000;

/** Without what names this repository's Node, services or database. */
export const machine: Readonly<Record<string, string>> = {
  PATH: (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"))
    .join(delimiter),
  HOME: process.env["HOME"] ?? "",
  AWS_EC2_METADATA_DISABLED: "true",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_update_notifier: "false",
};

/** @throws Error with what the program wrote, unless it ends with 0. */
export async function run(cwd: string, command: string, ...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await execute(command, args, { cwd, env: machine, maxBuffer: outputBytesMax });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`.trim(), { cause: error });
  }
}

interface Urls {
  readonly api: string;
  readonly database: string;
  readonly sqs: string;
  readonly dynamodb: string;
}

interface Line {
  readonly is: string;
  readonly file?: string;
  readonly error?: string;
  readonly urls?: Urls;
}

export interface Started {
  readonly urls: Urls;
  readonly lines: readonly Line[];
  stop(): Promise<number | null>;
}

/** `npm start`, as Ctrl-C in a terminal ends it: every process of the group is told. */
export async function start(cwd: string): Promise<Started> {
  const child = spawn("npm", ["-s", "start", "--", "--json"], {
    cwd,
    env: machine,
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line) as Line));
  const exited = once(child, "exit");
  const stop = async (): Promise<number | null> => {
    if (isRunning(child)) process.kill(-(child.pid ?? 0), "SIGINT");
    const [code] = (await exited) as [number | null];
    return code;
  };
  const started = await until("the system to start", startMsMax, () => {
    if (!isRunning(child)) throw new Error("npm start ended by itself");
    return lines.find(({ is }) => is === "started");
  });
  if (started.urls === undefined) throw new Error("the start told no addresses");
  return { urls: started.urls, lines, stop };
}

const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;
