import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { until } from "../proof/until.ts";

export type Urls = Readonly<Record<"api" | "database" | "sqs" | "dynamodb" | "mail", string>>;

/** A line of `npm start -- --json`. */
export interface Line {
  readonly is?: string;
  readonly from?: string;
  readonly what?: string;
  readonly file?: string;
  readonly error?: string;
  readonly urls?: Urls;
  readonly [field: string]: unknown;
}

/** A whole local system in a process of its own, as its users start it. */
export interface LocalStart {
  readonly process: ChildProcess;
  readonly lines: readonly Line[];
  /** What it wrote to stderr. */
  readonly errors: readonly string[];
  /** Once it has started. @throws Error with what it wrote, when it ends before. */
  urls(withinMs: number): Promise<Urls>;
  /** By default as Ctrl-C does. @returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** `npm start -- --json`, by any command that comes to it. One that is `detached` is stopped with its process group. */
export function localStart(command: string, args: readonly string[], options: SpawnOptions): LocalStart {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit");
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const lines: Line[] = [];
  const errors: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line.startsWith("{")) lines.push(JSON.parse(line) as Line);
  });
  createInterface({ input: child.stderr }).on("line", (line) => errors.push(line));
  return {
    process: child,
    lines,
    errors,
    urls: (withinMs) =>
      until("the system to start", withinMs, () => {
        if (!isRunning()) throw new Error(`it ended by itself:\n${errors.join("\n")}`);
        return lines.find(({ is }) => is === "started")?.urls;
      }),
    async stop(signal = "SIGINT") {
      if (isRunning()) process.kill(options.detached === true ? -(child.pid ?? 0) : (child.pid ?? 0), signal);
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}

const main = fileURLToPath(new URL("../../src/local/main.ts", import.meta.url));

/** The same from this repository's own sources. `env` is all that it has of an environment. */
export const ownStart = (env: NodeJS.ProcessEnv, ...args: readonly string[]): LocalStart =>
  localStart(process.execPath, [main, "start", "--json", ...args], { env });

/** What is printed hides it. */
export function withPassword(databaseUrl: string, home: string): string {
  const record = JSON.parse(readFileSync(join(home, "postgres", "postgres.json"), "utf8")) as { password: string };
  return databaseUrl.replace("***", record.password);
}
