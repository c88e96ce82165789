import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * One particular process. A pid alone is not enough: after a kill -9 the system may give it to another
 * process, which must not be ended as a leftover.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the form of the operating system; compared, never interpreted. */
  readonly startedAt: string;
}

/** @returns null when no such process runs; one that ended but was not yet waited for counts as not running. */
export function identityOf(pid: number): ProcessIdentity | null {
  const startedAt = process.platform === "linux" ? startedAtFromProc(pid) : startedAtFromPs(pid);
  return startedAt === null ? null : { pid, startedAt };
}

/** Whether exactly this process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.startedAt === identity.startedAt;
}

/** Sends a signal to exactly this process; a process that is gone already is not an error. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function startedAtFromProc(pid: number): string | null {
  const stat = readOrNull(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The second field is the program name in brackets and may itself hold spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state] = fields;
  if (state === "Z" || state === "X") return null;
  return fields[19] ?? null;
}

function startedAtFromPs(pid: number): string | null {
  try {
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || null;
  } catch {
    return null;
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
