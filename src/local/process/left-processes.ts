import { readdirSync, readFileSync } from "node:fs";

/** In the environment of each process of a local system, and so of all that it starts, also in a session of their own. */
export const markName = "BELFRY_PROCESS";

export interface Left {
  /** The pid of the process that has just ended, whose group it was; null when another process may have that pid now. */
  readonly group: number | null;
  readonly mark: string;
}

/** Ends what processes that are gone have started, as the end of a sandbox does in Lambda. Where there is no `/proc`, the group alone. */
export function killLeft(left: readonly Left[]): void {
  for (const { group } of left) if (group !== null) kill(-group);
  const marks = new Set(left.map(({ mark }) => `${markName}=${mark}`));
  for (const pid of marks.size === 0 ? [] : pids()) {
    if (environmentOf(pid).some((entry) => marks.has(entry))) kill(pid);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone.
  }
}

function pids(): readonly number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** Empty for another user's. */
function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}
