import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Children, hasEnded, type OnLine } from "../process/children.ts";
import { startReady, type Successor } from "../process/ready-child.ts";

/** Plays the EventBridge rule that starts the scheduler task. */
export interface WakeClock {
  /** One more scheduler task now; the running ones get SIGTERM. */
  again(): void;
  /** A scheduler task of new code, which begins once the running ones have ended. */
  prepare(code: string): Promise<Successor>;
  stop(): Promise<void>;
}

const waitingTask = fileURLToPath(new URL("./waiting-scheduler.ts", import.meta.url));
const intervalShare = 55 / 60;
const passMsMax = 840_000;

/**
 * The first wake comes at once, the next ones at their rate. In real time the task stays, as with `scheduler: "service"`, and a wake
 * finds it there or starts another. In compressed time each wake starts one, and one may still run then: the lock decides.
 */
export function startWakeClock(options: ClockOptions & { readonly rateMinutes: number }): WakeClock {
  const { children, env, timeScale, onLine } = options;
  const ruleMs = (options.rateMinutes * 60_000) / timeScale;
  const intervalMs = Math.max(ruleMs, Math.min(intervalMsMin, options.rateMinutes * 60_000));
  const passMs = Math.min(Math.floor(intervalMs * timeScale * intervalShare), passMsMax);
  const passes = new SchedulerProcesses(options);
  const name = "scheduler";
  const command = timeScale === 1 ? "serve" : "pass";
  const more = { BELFRY_PASS_MS: String(passMs) };
  let isStopped = false;
  const wake = (): void => void passes.start(name, [command], more);
  const rule = (): void => {
    if (command === "pass" || passes.running.length === 0) wake();
  };
  /** The running ones give the lock back first: a task that finds it held by a living one ends. */
  const follow = async (next: ChildProcess): Promise<void> => {
    const before = passes.running;
    passes.add(next);
    await passes.stop(before);
    if (isStopped) return;
    if (hasEnded(next)) wake();
    else next.send("begin", () => {});
  };
  wake();
  const timer = setInterval(rule, intervalMs);
  return {
    again() {
      for (const child of passes.running) child.kill("SIGTERM");
      wake();
    },
    async prepare(code) {
      const about = { name, args: [waitingTask, command], env: { ...more, ...env }, onLine, code };
      const child = await startReady(children, "the scheduler", about);
      return {
        isAlive: () => !hasEnded(child),
        takeOver: () => void follow(child),
        end: () => passes.stop([child]),
      };
    },
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await passes.stop();
    },
  };
}

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
