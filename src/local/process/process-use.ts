import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** What a process does now. */
export interface ProcessUse {
  /** `runs`: it has the processor or waits for it. `stopped`: by a signal, as SIGSTOP. */
  readonly state: "runs" | "sleeps" | "stopped";
  /** Processor time that it has used, on Linux that of its main thread. */
  readonly cpuMs: number;
}

/** Clock ticks of `/proc`, 100 a second on every machine. */
const tickMs = 10;

/** @returns null when no such process runs. */
export function useOf(pid: number): ProcessUse | null {
  try {
    return process.platform === "linux" ? useFromProc(pid) : useFromPs(pid);
  } catch {
    return null;
  }
}

function useFromProc(pid: number): ProcessUse {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8");
  // The second field is the program name in brackets and may itself hold spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: stateOf(fields[0] ?? ""), cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs };
}

/** For example `S+  1:02.50`. */
function useFromPs(pid: number): ProcessUse {
  const line = execFileSync("ps", ["-o", "state=,time=", "-p", String(pid)], { encoding: "utf8" }).trim();
  const [state = "", time = ""] = line.split(/\s+/);
  const seconds = time.split(/[:-]/).reduce((sum, part) => sum * 60 + Number(part), 0);
  return { state: stateOf(state), cpuMs: seconds * 1_000 };
}

const stateOf = (letters: string): ProcessUse["state"] =>
  /^t/i.test(letters) ? "stopped" : letters.startsWith("R") ? "runs" : "sleeps";
