import { readFileSync } from "node:fs";

/** CPU time that a process of one thread has used so far, user and system, in microseconds. 0 where Linux does not tell it. */
export function cpuUs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1_000;
  } catch {
    return 0;
  }
}
