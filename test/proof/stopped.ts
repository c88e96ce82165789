import { readFileSync } from "node:fs";

/** Whether a process was stopped by a signal and not yet sent SIGCONT. */
export function isStopped(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T");
}
