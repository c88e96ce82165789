import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import {
  createWriteStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  type WriteStream,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { identityOf, isRunning, type ProcessIdentity, signalProcess } from "./process-identity.ts";

export interface ChildOptions {
  /** For people: `worker default`. Its log file has this name. */
  readonly name: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Opens a channel for messages. */
  readonly ipc?: boolean;
  /** Called with every line it writes; all lines also go to its log file. */
  readonly onLine?: (line: string, stream: "stdout" | "stderr") => void;
}

interface Recorded {
  readonly name: string;
  readonly identity: ProcessIdentity;
}

const leftoverMs = 3_000;
const logBytesMax = 10 * 1024 * 1024;

/**
 * The Node processes of one local system. Each is recorded in a file of its own while it runs, so that the next start
 * finds what a kill -9 left behind.
 */
export class Children {
  readonly #folder: string;
  readonly #logFolder: string;
  readonly #logs = new Map<string, WriteStream>();
  readonly #running = new Map<number, { name: string; child: ChildProcess }>();

  constructor(home: string) {
    this.#folder = join(home, "processes");
    this.#logFolder = join(home, "log");
    mkdirSync(this.#folder, { recursive: true });
    mkdirSync(this.#logFolder, { recursive: true });
  }

  start(options: ChildOptions): ChildProcess {
    const stdio: StdioOptions = options.ipc === true ? ["ignore", "pipe", "pipe", "ipc"] : ["ignore", "pipe", "pipe"];
    const child = spawn(process.execPath, options.args, { env: options.env, stdio });
    this.#follow(child, options);
    if (child.pid !== undefined) this.#record(child.pid, options.name, child);
    return child;
  }

  /** Pids by name, for people and for tests that kill some. */
  running(): readonly { name: string; pid: number }[] {
    return [...this.#running].map(([pid, { name }]) => ({ name, pid }));
  }

  /** SIGTERM, and SIGKILL for what is still there after `graceMs`. */
  async stop(child: ChildProcess, graceMs: number): Promise<void> {
    if (hasEnded(child)) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    const tooLate = new AbortController();
    const killer = wait(graceMs, undefined, { signal: tooLate.signal }).then(
      () => void child.kill("SIGKILL"),
      () => {},
    );
    await ended;
    tooLate.abort();
    await killer;
  }

  async stopAll(graceMs: number): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ child }) => this.stop(child, graceMs)));
    for (const log of this.#logs.values()) log.end();
  }

  killAll(): void {
    for (const { child } of this.#running.values()) child.kill("SIGKILL");
  }

  /** Ends what an earlier system left. @returns their names. */
  async endLeftovers(): Promise<readonly string[]> {
    const left = readdirSync(this.#folder)
      .map((file) => readRecord(join(this.#folder, file)))
      .filter((record) => record !== null && isRunning(record.identity)) as Recorded[];
    for (const { identity } of left) signalProcess(identity, "SIGTERM");
    for (let waited = 0; waited < leftoverMs && left.some(({ identity }) => isRunning(identity)); waited += 50)
      await wait(50);
    for (const { identity } of left) signalProcess(identity, "SIGKILL");
    for (const file of readdirSync(this.#folder)) rmSync(join(this.#folder, file), { force: true });
    return left.map(({ name }) => name);
  }

  #record(pid: number, name: string, child: ChildProcess): void {
    const file = join(this.#folder, `${pid}.json`);
    const identity = identityOf(pid);
    if (identity !== null) writeFileSync(file, JSON.stringify({ name, identity } satisfies Recorded));
    this.#running.set(pid, { name, child });
    child.once("exit", () => {
      this.#running.delete(pid);
      rmSync(file, { force: true });
    });
  }

  #follow(child: ChildProcess, options: ChildOptions): void {
    const log = this.#logOf(options.name);
    child.once("error", (error) => log.write(`${error.message}\n`));
    for (const stream of ["stdout", "stderr"] as const) {
      const source = child[stream];
      if (source === null) continue;
      createInterface({ input: source }).on("line", (line) => {
        if (!log.writableEnded) log.write(`${line}\n`);
        options.onLine?.(line, stream);
      });
    }
  }

  #logOf(name: string): WriteStream {
    const known = this.#logs.get(name) ?? openLog(join(this.#logFolder, `${name.replaceAll(/[^\w.-]+/g, "-")}.log`));
    this.#logs.set(name, known);
    return known;
  }
}

export const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** Goes on where the last run ended; one that has grown large is put aside first. */
function openLog(file: string): WriteStream {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > logBytesMax) renameSync(file, `${file}.old`);
  return createWriteStream(file, { flags: "a" });
}

function readRecord(file: string): Recorded | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Recorded;
  } catch {
    return null;
  }
}
