import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { letPass } from "./until.ts";

/** `npm start` as a process of its own. */
export interface Main {
  readonly child: ChildProcess;
  readonly lines: readonly Record<string, unknown>[];
  readonly errors: readonly string[];
}

const preload = `--import=${new URL("./preload.ts", import.meta.url).href}`;

export function startMain(home: string, { without, app }: { without: string | null; app: URL }): Main {
  const program = fileURLToPath(new URL("../../src/local/main.ts", import.meta.url));
  const { PATH = "", HOME = "", TZ = "UTC" } = process.env;
  const guard = without === null ? {} : { NODE_OPTIONS: preload, BELFRY_PROOF_WITHOUT: without };
  const child = spawn(process.execPath, [program, "start", "--json"], {
    env: { PATH, HOME, TZ, BELFRY_HOME: home, BELFRY_APPS: app.href, ...guard },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: Record<string, unknown>[] = [];
  const errors: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line.startsWith("{")) lines.push(JSON.parse(line) as Record<string, unknown>);
  });
  createInterface({ input: child.stderr }).on("line", (line) => errors.push(line));
  return { child, lines, errors };
}

export async function endMain(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGINT");
  await Promise.race([ended, letPass(40_000)]);
  child.kill("SIGKILL");
}

/** What is printed hides it. */
export function withPassword(shown: string, home: string): string {
  const { password } = JSON.parse(readFileSync(join(home, "postgres", "postgres.json"), "utf8")) as {
    password: string;
  };
  return shown.replace("***", password);
}
