import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { madeOnce } from "../../machine/made-once.ts";
import {
  identityOf,
  isRunning,
  killStartedBy,
  markName,
  type ProcessIdentity,
  signalProcess,
} from "./operating-system.ts";
import type { DebugPorts } from "./debug-ports.ts";
import { LogFile } from "./log-file.ts";

export type OnLine = (line: string, stream: "stdout" | "stderr") => void;

export interface ChildOptions {
  /** For people: `worker default`. Its log file has this name. */
  readonly name: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The file of the project's code that it runs, as `keepCode` wrote it. Default: the one of `useCode`; null: what the files hold. */
  readonly code?: string | null | undefined;
  /** It runs handlers: with `--inspect` a debugger may attach to it. */
  readonly runsHandlers?: boolean;
  /** Opens a channel for messages. */
  readonly ipc?: boolean;
  /** Called with every line it writes; all lines also go to its log file. */
  readonly onLine?: OnLine | undefined;
}

interface Recorded {
  readonly name: string;
  readonly mark: string;
  readonly identity: ProcessIdentity;
}

const leftoverMs = 3_000;
/** For the last lines of a process that has ended. */
const outputMs = 1_000;

/** A project of CommonJS may have its jobs in TypeScript: no process warns of it. */
const withoutWarning = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON";
/** V8 gives young objects up to 16 MB, which a process that mostly waits never needs and never gives back. */
const smallHeap = "--max-semi-space-size=1";

/** Makes what ends a process of the project's own code one line. It needs the sources, so a bundle leaves it out. */
export const withLastWords: readonly string[] = [
  withoutWarning,
  smallHeap,
  "--import",
  new URL("./last-words.ts", import.meta.url).href,
];

/**
 * The Node processes of one local system. Each is recorded in a file of its own while it runs, so that the next start
 * finds what a kill -9 left behind.
 */
export class Children {
  readonly #folder: string;
  readonly #logFolder: string;
  readonly #logs = new Map<string, LogFile>();
  readonly #running = new Map<number, { name: string; mark: string; child: ChildProcess }>();

  readonly #nodeArgs: readonly string[];
  readonly #onProblem: (problem: string) => void;
  readonly #debugPorts: DebugPorts | null;
  #code: string | null = null;

  /** @param onProblem gets what could not be written, once until it can be again. */
  constructor(
    home: string,
    nodeArgs: readonly string[] = [],
    onProblem: (problem: string) => void = () => {},
    ports: DebugPorts | null = null,
  ) {
    this.#nodeArgs = nodeArgs;
    this.#onProblem = onProblem;
    this.#debugPorts = ports;
    this.#folder = join(home, "processes");
    this.#logFolder = join(home, "log");
    mkdirSync(this.#folder, { recursive: true });
    mkdirSync(this.#logFolder, { recursive: true });
  }

  /** What is started from now on runs this version of the project's code. */
  useCode(file: string): void {
    this.#code = file;
  }

  start(options: ChildOptions): ChildProcess {
    const stdio: StdioOptions = options.ipc === true ? ["ignore", "pipe", "pipe", "ipc"] : ["ignore", "pipe", "pipe"];
    const { code = this.#code } = options;
    const mark = randomUUID();
    const env = { ...options.env, ...(code === null ? {} : { BELFRY_CODE: code }), [markName]: mark };
    // A process group of its own, for what it starts; the terminal's Ctrl-C reaches only the process that decides the order.
    const debug = options.runsHandlers === true ? this.#debugPorts?.take(options.name) : undefined;
    const args = [...(debug?.args ?? []), ...this.#nodeArgs, ...options.args];
    const child = spawn(process.execPath, args, { env, stdio, detached: true });
    if (debug !== undefined) child.once("exit", debug.release).once("error", debug.release);
    this.#follow(child, options);
    if (child.pid !== undefined) this.#record(child.pid, { name: options.name, mark }, child);
    return child;
  }

  /** Pids by name, for people and for tests that kill some. */
  running(): readonly { name: string; pid: number }[] {
    return [...this.#running].map(([pid, { name }]) => ({ name, pid }));
  }

  /** SIGTERM, and SIGKILL for what is still there after `graceMs`. */
  stop(child: ChildProcess, graceMs: number): Promise<void> {
    return endChild(child, "SIGTERM", graceMs);
  }

  async stopAll(graceMs: number): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ child }) => this.stop(child, graceMs)));
    for (const log of this.#logs.values()) log.end();
  }

  /** At once, with what they have started. */
  killAll(): void {
    const all = [...this.#running];
    for (const [, { child }] of all) child.kill("SIGKILL");
    killStartedBy(all.map(([pid, { mark }]) => ({ group: pid, mark })));
  }

  /** Ends what an earlier system left. @returns their names. */
  async endLeftovers(): Promise<readonly string[]> {
    const records = readdirSync(this.#folder).flatMap((file) => readRecord(join(this.#folder, file)) ?? []);
    const left = records.filter(({ identity }) => isRunning(identity));
    for (const { identity } of left) signalProcess(identity, "SIGTERM");
    const untilGone = async (): Promise<void> => {
      for (let waited = 0; waited < leftoverMs && left.some(({ identity }) => isRunning(identity)); waited += 50)
        await wait(50);
    };
    await untilGone();
    for (const { identity } of left) signalProcess(identity, "SIGKILL");
    killStartedBy(records.map(({ mark }) => ({ group: null, mark })));
    // Until it is gone a killed process still has its port.
    await untilGone();
    for (const file of readdirSync(this.#folder)) rmSync(join(this.#folder, file), { force: true });
    return left.map(({ name }) => name);
  }

  #record(pid: number, { name, mark }: Omit<Recorded, "identity">, child: ChildProcess): void {
    const file = join(this.#folder, `${pid}.json`);
    const identity = identityOf(pid);
    if (identity !== null) this.#write(file, { name, mark, identity });
    this.#running.set(pid, { name, mark, child });
    child.once("exit", () => {
      this.#running.delete(pid);
      rmSync(file, { force: true });
      killStartedBy([{ group: pid, mark }]);
      // What could not be killed must not hold its output open for ever.
      setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream?.destroy()), outputMs).unref();
    });
  }

  /** Without its record a process is only not found by the start after a kill -9; it runs all the same. */
  #write(file: string, record: Recorded): void {
    try {
      writeFileSync(file, JSON.stringify(record));
    } catch (error) {
      this.#onProblem(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #follow(child: ChildProcess, options: ChildOptions): void {
    const log = this.#logOf(options.name);
    child.once("error", (error) => log.write(error.message));
    for (const stream of ["stdout", "stderr"] as const) {
      const source = child[stream];
      if (source === null) continue;
      createInterface({ input: source }).on("line", (line) => {
        log.write(line);
        options.onLine?.(line, stream);
      });
    }
  }

  #logOf(name: string): LogFile {
    const file = join(this.#logFolder, `${name.replaceAll(/[^\w.-]+/g, "-")}.log`);
    return madeOnce(this.#logs, name, () => new LogFile(file, this.#onProblem));
  }
}

/** Resolves when it is gone: by the signal, or by SIGKILL after `graceMs`. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  // One that could not be spawned has no end.
  if (hasEnded(child) || child.pid === undefined) return;
  const ended = once(child, "exit");
  const late = setTimeout(() => child.kill("SIGKILL"), graceMs);
  child.kill(signal);
  await ended;
  clearTimeout(late);
}

export const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

function readRecord(file: string): Recorded | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Recorded;
  } catch {
    return null;
  }
}
