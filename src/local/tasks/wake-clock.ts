import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Children } from "../process/children.ts";

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
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

const task = fileURLToPath(new URL("../../../scheduler-task/main.ts", import.meta.url));
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

  const wake = (): void => {
    const child = children.start({
      name: "scheduler",
      args: [task, "pass"],
      env: { BELFRY_PASS_MS: String(passMs), ...env },
      ...(onLine === undefined ? {} : { onLine }),
    });
    tasks.add(child);
    child.once("exit", () => tasks.delete(child));
    child.once("error", () => tasks.delete(child));
  };
  wake();
  const timer = setInterval(wake, intervalMs);
  return {
    again() {
      for (const child of tasks) child.kill("SIGTERM");
      wake();
    },
    get pids() {
      return [...tasks].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
    },
    async stop() {
      clearInterval(timer);
      await Promise.all([...tasks].map((child) => children.stop(child, stopMs)));
    },
  };
}
