import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Children, hasEnded } from "../process/children.ts";
import { startReady } from "../process/ready-child.ts";
import type { Successor } from "../successor.ts";

export interface WakeClockOptions {
  readonly children: Children;
  readonly env: Readonly<Record<string, string>>;
  readonly rateMinutes: number;
  readonly timeScale: number;
  readonly onLine?: (line: string, stream: "stdout" | "stderr") => void;
}

/** Plays the EventBridge rule that starts the scheduler task. */
export interface WakeClock {
  /** One more scheduler task now; the running ones get SIGTERM. */
  again(): void;
  /** A scheduler task of new code, which begins once the running ones have ended. */
  prepare(code: string): Promise<Successor>;
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

const task = fileURLToPath(new URL("../../../scheduler-task/main.ts", import.meta.url));
const waitingTask = fileURLToPath(new URL("./waiting-scheduler.ts", import.meta.url));
/** A process costs half a second of CPU to start, so compressed time starts them no faster than this. */
const intervalMsMin = 10_000;
const intervalShare = 55 / 60;
const passMsMax = 840_000;
const stopMs = 10_000;

/** The first wake comes at once, the next ones at their rate. A task may still run when the next one comes: the lock decides. */
export function startWakeClock(options: WakeClockOptions): WakeClock {
  const { children, env, timeScale, onLine } = options;
  const ruleMs = (options.rateMinutes * 60_000) / timeScale;
  const intervalMs = Math.max(ruleMs, Math.min(intervalMsMin, options.rateMinutes * 60_000));
  const passMs = Math.min(Math.floor(intervalMs * timeScale * intervalShare), passMsMax);
  const tasks = new Set<ChildProcess>();

  const about = {
    name: "scheduler",
    env: { BELFRY_PASS_MS: String(passMs), ...env },
    ...(onLine === undefined ? {} : { onLine }),
  };
  const add = (child: ChildProcess): void => {
    if (hasEnded(child)) return;
    tasks.add(child);
    child.once("exit", () => tasks.delete(child));
    child.once("error", () => tasks.delete(child));
  };
  let isStopped = false;
  const wake = (): void => add(children.start({ ...about, args: [task, "pass"] }));
  /** The running ones give the lock back first: a task that finds it held by a living one ends. */
  const follow = async (next: ChildProcess): Promise<void> => {
    const before = [...tasks];
    add(next);
    await Promise.all(before.map((child) => children.stop(child, stopMs)));
    if (isStopped) return;
    if (hasEnded(next)) wake();
    else next.send("begin", () => {});
  };
  wake();
  const timer = setInterval(wake, intervalMs);
  return {
    again() {
      for (const child of tasks) child.kill("SIGTERM");
      wake();
    },
    async prepare(code) {
      const child = await startReady(children, "the scheduler", { ...about, args: [waitingTask, "pass"], code });
      return {
        isAlive: () => !hasEnded(child),
        takeOver: () => void follow(child),
        end: () => children.stop(child, stopMs),
      };
    },
    get pids() {
      return [...tasks].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
    },
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await Promise.all([...tasks].map((child) => children.stop(child, stopMs)));
    },
  };
}
