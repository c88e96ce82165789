import type { ChildProcess } from "node:child_process";
import { type ProcessUse, useOf } from "./process/operating-system.ts";

const lookMs = 2_000;
/** Of the processor, without one turn of the event loop. What serves a crowd slowly still turns. */
const turnMsMax = 10_000;
const stoppedLooksMax = 5;
/** It waits for something that is not the processor, and does not turn: for a lock, or for a disk that is gone. */
const asleepLooksMax = 60;

/** Looks are counted, not time: a machine that slept or is starved makes few of them. */
export interface Judge {
  /** Its event loop has turned. */
  turned(): void;
  /** @returns why it hangs; null when it does not. */
  look(use: ProcessUse): string | null;
}

/** @param patience multiplies the limits. */
export function judgeOf(patience: number): Judge {
  let sinceCpuMs: number | null = null;
  let stopped = 0;
  let asleep = 0;
  return {
    turned() {
      sinceCpuMs = null;
      stopped = asleep = 0;
    },
    look({ state, cpuMs }) {
      sinceCpuMs ??= cpuMs;
      stopped = state === "stopped" ? stopped + 1 : 0;
      asleep = state === "sleeps" ? asleep + 1 : 0;
      const turnMs = cpuMs - sinceCpuMs;
      if (stopped >= stoppedLooksMax * patience) return `was stopped for ${seconds(stopped * lookMs)}`;
      if (turnMs >= turnMsMax * patience) return `ran for ${seconds(turnMs)} without a turn of its event loop`;
      if (asleep >= asleepLooksMax * patience) return `did nothing for ${seconds(asleep * lookMs)}`;
      return null;
    },
  };
}

/** Each that hangs is given twice the time of the one before: what is slow may need it. */
const patienceMax = 16;

/** Watches one process after another. `forgive`: the next one is of other code. */
export function watchdog(onHung: (why: string) => void): { watch(child: ChildProcess): void; forgive(): void } {
  let patience = 1;
  return {
    watch: (child) =>
      watchProcess(child, patience, (why) => {
        patience = Math.min(patience * 2, patienceMax);
        onHung(why);
      }),
    forgive: () => void (patience = 1),
  };
}

/** Ends a process that hangs, with SIGKILL. Each message that it sends is a turn of its event loop. */
function watchProcess(child: ChildProcess, patience: number, onHung: (why: string) => void): void {
  const judge = judgeOf(patience);
  child.on("message", () => judge.turned());
  const timer = setInterval(() => {
    const use = useOf(child.pid ?? -1);
    const why = use === null ? null : judge.look(use);
    if (why === null) return;
    clearInterval(timer);
    onHung(why);
    child.kill("SIGKILL");
  }, lookMs);
  child.once("exit", () => clearInterval(timer));
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
