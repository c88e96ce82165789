import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Children, hasEnded, type OnLine } from "../process/children.ts";

/** What a clock starts its processes with. */
export interface ClockOptions {
  readonly children: Children;
  readonly env: Readonly<Record<string, string>>;
  readonly timeScale: number;
  readonly onLine?: OnLine | undefined;
}

/** A process costs half a second of CPU to start, so compressed time starts those of one rule no faster than this. */
export const intervalMsMin = 10_000;
const task = fileURLToPath(new URL("../../../scheduler-task/main.ts", import.meta.url));
const stopMs = 10_000;

/** The processes of `scheduler-task` that one clock has started. */
export class SchedulerProcesses {
  readonly #options: ClockOptions;
  readonly #running = new Set<ChildProcess>();

  constructor(options: ClockOptions) {
    this.#options = options;
  }

  get running(): readonly ChildProcess[] {
    return [...this.#running];
  }

  start(name: string, args: readonly string[], more: Readonly<Record<string, string>> = {}): ChildProcess {
    const { children, env, onLine } = this.#options;
    const child = children.start({ name, args: [task, ...args], env: { ...more, ...env }, onLine });
    this.add(child);
    return child;
  }

  add(child: ChildProcess): void {
    if (hasEnded(child)) return;
    this.#running.add(child);
    for (const end of ["exit", "error"]) child.once(end, () => this.#running.delete(child));
  }

  async stop(processes = this.running): Promise<void> {
    await Promise.all(processes.map((child) => this.#options.children.stop(child, stopMs)));
  }
}
