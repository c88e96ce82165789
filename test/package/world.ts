/** A folder outside of the repository, and programs run in it as a user does: with the machine's own Node, not ours. */
import { execFile } from "node:child_process";
import { delimiter } from "node:path";
import { promisify } from "node:util";
import { type LocalStart, localStart, type Urls } from "../support/local-start.ts";

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

export interface Started extends LocalStart {
  readonly addresses: Urls;
}

/** `npm start`, as Ctrl-C in a terminal ends it: every process of the group gets the signal. */
export async function start(cwd: string): Promise<Started> {
  const started = localStart("npm", ["-s", "start", "--", "--json"], { cwd, env: machine, detached: true });
  return { ...started, addresses: await started.urls(startMsMax) };
}
