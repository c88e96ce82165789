/** Processes as the operating system knows them, by `/proc`, or by `ps` where there is none. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/**
 * One particular process. A pid alone is not enough: after a kill -9 the system may give it to another
 * process, which must not be ended as a leftover.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the form of the operating system; compared, never interpreted. */
  readonly startedAt: string;
}

/** What a process does now. */
export interface ProcessUse {
  /** `runs`: it has the processor or waits for it. `stopped`: by a signal, as SIGSTOP. */
  readonly state: "runs" | "sleeps" | "stopped";
  /** Processor time that it has used, on Linux that of its main thread. */
  readonly cpuMs: number;
}

/** Clock ticks of `/proc`, 100 a second on every machine. */
const tickMs = 10;
const isLinux = process.platform === "linux";

/** @returns null when no such process runs; one that ended but was not yet waited for counts as not running. */
export function identityOf(pid: number): ProcessIdentity | null {
  const startedAt = isLinux ? startedAtOf(statOf(pid)) : psOf(pid, "lstart=");
  return startedAt === null ? null : { pid, startedAt };
}

/** Whether exactly this process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.startedAt === identity.startedAt;
}

/** Sends a signal to exactly this process; a process that is gone already is not an error. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (isRunning(identity)) send(identity.pid, signal);
}

/** @returns null when no such process runs. */
export function useOf(pid: number): ProcessUse | null {
  if (isLinux) {
    const fields = statOf(pid, `/task/${pid}`);
    return fields && { state: stateOf(fields[0]), cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs };
  }
  // For example `S+  1:02.50`.
  const [letters, time = ""] = psOf(pid, "state=,time=")?.split(/\s+/) ?? [];
  const seconds = time.split(/[:-]/).reduce((sum, part) => sum * 60 + Number(part), 0);
  return letters === undefined ? null : { state: stateOf(letters), cpuMs: seconds * 1_000 };
}

/** In the environment of each process of a local system, and so of all that it starts, also in a session of their own. */
export const markName = "BELFRY_PROCESS";

/** A process that has ended, by whose group and mark what it has started is found. */
export interface EndedProcess {
  /** The pid of the process that has just ended, whose group it was; null when another process may have that pid now. */
  readonly group: number | null;
  readonly mark: string;
}

/** Ends what processes that are gone have started, as the end of a sandbox does in Lambda. Where there is no `/proc`, the group alone. */
export function killStartedBy(ended: readonly EndedProcess[]): void {
  for (const { group } of ended) if (group !== null) send(-group, "SIGKILL");
  const marks = new Set(ended.map(({ mark }) => `${markName}=${mark}`));
  for (const pid of marks.size === 0 ? [] : pids()) {
    const environment = readOrNull(`/proc/${pid}/environ`)?.split("\0") ?? [];
    if (environment.some((entry) => marks.has(entry))) send(pid, "SIGKILL");
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It is gone, or it is another user's by now.
    if (!["ESRCH", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

/** From the third on: the second field is the program name in brackets and may itself hold spaces and brackets. */
function statOf(pid: number, thread = ""): readonly string[] | null {
  const stat = readOrNull(`/proc/${pid}${thread}/stat`);
  return stat === null ? null : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

const startedAtOf = (fields: readonly string[] | null): string | null =>
  fields === null || ["Z", "X"].includes(fields[0] ?? "") ? null : (fields[19] ?? null);

const stateOf = (letters = ""): ProcessUse["state"] =>
  /^t/i.test(letters) ? "stopped" : letters.startsWith("R") ? "runs" : "sleeps";

function psOf(pid: number, fields: string): string | null {
  try {
    return execFileSync("ps", ["-o", fields, "-p", String(pid)], { encoding: "utf8" }).trim() || null;
  } catch {
    return null;
  }
}

const pids = (): readonly number[] =>
  isLinux
    ? readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .map(Number)
    : [];

/** Null for what is gone, and for another user's. */
function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
