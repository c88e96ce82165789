import type { ChildProcess } from "node:child_process";
import { Children, type ChildOptions } from "../../src/local/children.ts";
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

/** What a worker was answered when it tried to write the outcome of a try it held. */
export interface Settling {
  readonly pid: number;
  readonly job: string;
  readonly attempt: number;
  readonly state: string | null;
  readonly answer: "written" | "refused";
}

/** The processes of one proof, with everything they said and how each ended. */
export class Processes extends Children {
  readonly lines: LogLine[] = [];
  readonly ends: Ended[] = [];
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

  /** Lines that are not JSON, like `held by ...`. */
  plainLines(pid: number): readonly string[] {
    return this.#plain.get(pid) ?? [];
  }

  /** The workers' own histories. */
  settlings(): readonly Settling[] {
    return this.lines.flatMap(({ pid, message, fields }) => {
      const answer = answers[message];
      if (answer === undefined) return [];
      const state = typeof fields["state"] === "string" ? fields["state"] : null;
      return [{ pid, job: String(fields["job"]), attempt: Number(fields["attempt"]), state, answer }];
    });
  }

  #take(pid: number, line: string): void {
    const fields = parsed(line);
    if (fields === null) {
      const plain = this.#plain.get(pid) ?? [];
      plain.push(line);
      this.#plain.set(pid, plain);
    } else if (typeof fields["message"] === "string") {
      this.lines.push({ pid, atMs: elapsedMs(), message: fields["message"], fields });
    }
  }
}

const answers: Readonly<Record<string, Settling["answer"]>> = {
  "job settled": "written",
  "the job was no longer this worker's; its outcome was refused": "refused",
};

function parsed(line: string): Record<string, unknown> | null {
  if (!line.startsWith("{")) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}
