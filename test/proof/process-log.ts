import type { ChildProcess } from "node:child_process";
import { Children, type ChildOptions } from "../../src/local/process/children.ts";
import type { HistoryLine } from "./recorder.ts";
import { elapsedMs } from "./until.ts";

/** One line of a process's JSON log. */
export interface LogLine {
  readonly pid: number;
  readonly atMs: number;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** How a process ended. */
export interface Ended {
  readonly pid: number;
  readonly name: string;
  /** Monotonic, as `elapsedMs`. */
  readonly atMs: number;
  /** Milliseconds since 1970: the database is on the same machine, so its times can be compared with this. */
  readonly at: number;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What a process wrote down itself about what it was answered, and when the harness read it (monotonic). */
export type History = HistoryLine & { readonly pid: number; readonly atMs: number };

/** The processes of one proof, with everything they said and how each ended. */
export class Processes extends Children {
  readonly lines: LogLine[] = [];
  readonly ends: Ended[] = [];
  readonly histories: History[] = [];
  readonly #plain = new Map<number, string[]>();

  override start(options: ChildOptions): ChildProcess {
    let pid = -1;
    const child = super.start({
      ...options,
      onLine: (line, stream) => {
        this.#take(pid, line);
        options.onLine?.(line, stream);
      },
    });
    pid = child.pid ?? -1;
    child.once("exit", (code, signal) =>
      this.ends.push({ pid, name: options.name, atMs: elapsedMs(), at: Date.now(), code, signal }),
    );
    return child;
  }

  endOf(pid: number): Ended | undefined {
    return this.ends.find((end) => end.pid === pid);
  }

  /** Processes that ended by a signal that no process can handle. */
  killed(): ReadonlySet<number> {
    return new Set(this.ends.filter((end) => end.signal === "SIGKILL").map((end) => end.pid));
  }

  /** Lines that are not JSON, like `held by ...`. */
  plainLines(pid: number): readonly string[] {
    return this.#plain.get(pid) ?? [];
  }

  /** Those that ended with an error, each by its name, but for those that may. */
  oddEnds(isUsual: (end: Ended) => boolean): readonly string[] {
    const odd = this.ends.filter((end) => end.code !== 0 && !isUsual(end));
    return odd.map(({ name, pid, code, signal }) => `${name} ${pid} ${signal ?? code}`);
  }

  /** The places at which processes died that were made to. */
  diedAt(): readonly string[] {
    const said = this.ends.flatMap(({ pid }) => this.plainLines(pid));
    return said.flatMap((line) => /^crash point ([^:]+)/.exec(line)?.[1] ?? []);
  }

  #take(pid: number, line: string): void {
    const fields = parsed(line);
    if (fields === null) {
      const plain = this.#plain.get(pid) ?? [];
      plain.push(line);
      this.#plain.set(pid, plain);
    } else if ("history" in fields) {
      this.histories.push({ ...(fields as unknown as HistoryLine), pid, atMs: elapsedMs() });
    } else if (typeof fields["message"] === "string") {
      this.lines.push({ pid, atMs: elapsedMs(), message: fields["message"], fields });
    }
  }
}

function parsed(line: string): Record<string, unknown> | null {
  if (!line.startsWith("{")) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}
