import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CliError, exitCodes } from "./exit.ts";

/** What the running local system says about itself, in `.belfry/system.json`. */
export interface SystemFile {
  readonly file: string;
  readonly pid: number;
  readonly api: string;
  readonly databaseUrl?: string;
}

/** The API's address: `--url`, else BELFRY_URL, else the local system's own file. @throws CliError when there is none. */
export function apiAddress(url: string | undefined, env: NodeJS.ProcessEnv, folder: string): string {
  const given = url ?? env["BELFRY_URL"];
  if (given === undefined || given === "") return localSystem(folder).api;
  if (URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)) return given;
  const from = url === undefined ? "BELFRY_URL" : "--url";
  throw new CliError(
    exitCodes.usage,
    "bad-url",
    `${from} is ${JSON.stringify(given)}; write it like http://127.0.0.1:4400`,
  );
}

/** @throws CliError saying how to start the system. */
export function localSystem(folder: string): SystemFile {
  const system = findSystem(folder);
  if (system === null) {
    throw new CliError(exitCodes.failure, "not-running", "no running Belfry was found from this folder upwards", [
      "start it in another terminal: npm start",
      "or name its address: --url http://127.0.0.1:4400 (or BELFRY_URL)",
    ]);
  }
  return system;
}

/** The nearest `.belfry/system.json` from `folder` upwards; null when there is none or it cannot be read. */
export function findSystem(folder: string): SystemFile | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const file = join(at, ".belfry", "system.json");
    if (existsSync(file)) return readSystem(file);
    if (dirname(at) === at) return null;
  }
}

function readSystem(file: string): SystemFile | null {
  try {
    const { pid, api, databaseUrl } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    if (typeof pid !== "number" || typeof api !== "string") return null;
    return { file, pid, api, ...(typeof databaseUrl === "string" ? { databaseUrl } : {}) };
  } catch {
    return null;
  }
}

/** Whether a process with this id exists; it may belong to another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
