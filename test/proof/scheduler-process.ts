import { fileURLToPath } from "node:url";
import { once } from "node:events";
import type { PassReport } from "../../src/schedule/pass.ts";
import type { Ended, LogLine, Processes } from "./process-log.ts";
import { elapsedMs } from "./until.ts";

/** One scheduler task, as a wake starts it. */
export interface SchedulerProcess {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Null while it runs, and when a signal ended it. */
  exitCode(): number | null;
  /** What it printed at its end; null when it was killed before. */
  report(): PassReport | null;
  lines(): readonly LogLine[];
  plainLines(): readonly string[];
  signal(signal: NodeJS.Signals): void;
  /** SIGTERM, SIGKILL after `graceMs`. */
  stop(graceMs?: number): Promise<Ended>;
}

const program = fileURLToPath(new URL("../../scheduler-task/main.ts", import.meta.url));

export function startSchedulerProcess(
  processes: Processes,
  env: Readonly<Record<string, string>>,
  name = "scheduler",
): SchedulerProcess {
  let report: PassReport | null = null;
  const child = processes.start({
    name,
    args: [program, "pass"],
    env,
    onLine(line) {
      report = reportIn(line) ?? report;
    },
  });
  const pid = child.pid ?? -1;
  // Pipes may still hold lines when the process is gone.
  const ended = once(child, "close").then(() => {
    const end = processes.endOf(pid);
    if (end === undefined) throw new Error(`nobody saw how process ${pid} ended`);
    return end;
  });
  return {
    pid,
    ended,
    exitCode: () => child.exitCode,
    report: () => report,
    lines: () => processes.lines.filter((line) => line.pid === pid),
    plainLines: () => processes.plainLines(pid),
    signal: (signal) => void child.kill(signal),
    async stop(graceMs = 5_000) {
      await processes.stop(child, graceMs);
      return ended;
    },
  };
}

function reportIn(line: string): PassReport | null {
  if (!line.startsWith('{"report":"pass"')) return null;
  try {
    return JSON.parse(line) as PassReport;
  } catch {
    return null;
  }
}

export interface Wakes {
  /** The newest task. */
  current(): SchedulerProcess;
  /** No more wakes; SIGTERM to the task that runs. */
  stop(): Promise<void>;
}

/** Plays the rule that wakes the scheduler. */
export function startWakes(start: () => SchedulerProcess, everyMs: number): Wakes {
  let stopped = false;
  let current = start();
  let startedMs = elapsedMs();
  let timer: NodeJS.Timeout | undefined;
  const follow = (task: SchedulerProcess): void => {
    void task.ended.then(() => {
      if (stopped) return;
      timer = setTimeout(
        () => {
          startedMs = elapsedMs();
          current = start();
          follow(current);
        },
        Math.max(0, everyMs - (elapsedMs() - startedMs)),
      );
    });
  };
  follow(current);
  return {
    current: () => current,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await current.stop();
    },
  };
}
