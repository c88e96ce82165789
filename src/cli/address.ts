import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CliError, exitCodes, wrongUsage } from "./exit.ts";

/** What the running local system says about itself, in `system.json` of its state folder. */
export interface LocalSystemFile {
  readonly file: string;
  readonly pid: number;
  /** Null while it starts. */
  readonly api: string | null;
  /** What its processes have in their environment, for one that joins them. */
  readonly env: Readonly<Record<string, string>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The API's address: `--url`, else BELFRY_URL, else the local system's own file. @throws CliError when there is none. */
export function apiAddress(url: string | undefined, env: Environment, folder: string): string {
  const given = url ?? env["BELFRY_URL"];
  if (given === undefined || given === "") return localAddress(env, folder);
  if (URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)) return given;
  const from = url === undefined ? "BELFRY_URL" : "--url";
  throw wrongUsage("bad-url", `${from} is ${JSON.stringify(given)}; write it like http://127.0.0.1:4400`);
}

function localAddress(env: Environment, folder: string): string {
  const system = findSystem(env, folder);
  if (system === null) {
    throw new CliError(exitCodes.failure, "not-running", "no running Belfry was found from this folder upwards", [
      "start it in another terminal: npm start",
      "or name its address: --url http://127.0.0.1:4400 (or BELFRY_URL)",
    ]);
  }
  if (system.api !== null) return system.api;
  throw new CliError(exitCodes.failure, "starting", `Belfry (process ${system.pid}) has not finished starting`, [
    "try again in a few seconds; what is wrong with it: npx belfry doctor",
  ]);
}

/** The file in BELFRY_HOME, or the nearest `.belfry/system.json` from `folder` upwards; null without a readable one. */
export function findSystem(env: Environment, folder: string): LocalSystemFile | null {
  const home = env["BELFRY_HOME"];
  if (home) return readSystem(join(resolve(folder, home), "system.json"));
  for (let at = resolve(folder); ; at = dirname(at)) {
    const file = join(at, ".belfry", "system.json");
    if (existsSync(file)) return readSystem(file);
    if (dirname(at) === at) return null;
  }
}

function readSystem(file: string): LocalSystemFile | null {
  try {
    const { pid, api, env } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    return typeof pid === "number"
      ? { file, pid, api: typeof api === "string" ? api : null, env: (env ?? {}) as Record<string, string> }
      : null;
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
