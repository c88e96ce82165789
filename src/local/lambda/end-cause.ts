import { readFileSync } from "node:fs";

/** Why a process ended by itself or by a signal from outside: a sentence for the attempts that ended with it. */
export const exitCause = (code: number | null, signal: NodeJS.Signals | null): string =>
  signal === null ? `its process exited with code ${code}` : `its process was killed by ${signal}`;

/** What V8 writes before it aborts. */
export const saysOutOfMemory = (line: string): boolean => /^FATAL ERROR: .*heap out of memory/.test(line);

/** Why the event loop of a process does not turn. */
export const stillCause = (pid: number, seconds: number): string =>
  isStopped(pid)
    ? `its process was stopped (SIGSTOP) for ${seconds} s`
    : `the handler blocked the event loop for ${seconds} s`;

/** Known on Linux only. */
function isStopped(pid: number): boolean {
  try {
    return /\) T /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

export interface BeatWatch {
  beat(): void;
  /** Since the last beat. */
  readonly stillSeconds: number;
  end(): void;
}

const secondMs = 1_000;
/** Shorter than a lease: its lapse must find the cause noted. */
const stillSecondsMin = 3;

/**
 * Counts seconds without a beat. By its own ticks, because beats wait unread while this process stands still itself.
 * @param onStill called every few seconds of standing still.
 */
export function watchBeats(onStill: (seconds: number) => void): BeatWatch {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += 1;
    if (seconds % stillSecondsMin === 0) onStill(seconds);
  }, secondMs);
  return {
    beat: () => void (seconds = 0),
    get stillSeconds() {
      return seconds < stillSecondsMin ? 0 : seconds;
    },
    end: () => clearInterval(timer),
  };
}
