/** The server process of a data folder, as its pid file names it. */
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { identityOf, isRunning, type ProcessIdentity, signalProcess } from "../process/operating-system.ts";

export const stopMsMax = 30_000;
const readyMsMax = 30_000;

/** The eighth line of `postmaster.pid` says when clients may connect; pg_ctl looks there too. */
export async function untilReady(dataFolder: string, server: ChildProcess): Promise<string | null> {
  for (let waited = 0; waited < readyMsMax; waited += 20) {
    const lines = pidFile(dataFolder);
    if (Number(lines[0]) === server.pid && lines[7]?.trim() === "ready") return null;
    await wait(20);
  }
  return `it was not ready after ${readyMsMax / 1_000} s`;
}

/** The living server of a data folder, by its pid file and its working directory. */
export function serverOf(dataFolder: string): ProcessIdentity | null {
  const pid = Number(pidFile(dataFolder)[0]);
  const identity = Number.isInteger(pid) && pid > 0 ? identityOf(pid) : null;
  if (identity === null || process.platform !== "linux") return identity;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dataFolder) ? identity : null;
  } catch {
    return null;
  }
}

export async function stopLeftover(dataFolder: string | undefined): Promise<void> {
  if (dataFolder === undefined || !existsSync(dataFolder)) return;
  const server = serverOf(dataFolder);
  if (server === null) {
    // Postgres itself refuses when another process has the pid now.
    rmSync(join(dataFolder, "postmaster.pid"), { force: true });
    return;
  }
  signalProcess(server, "SIGINT");
  for (let waited = 0; isRunning(server); waited += 20) {
    if (waited === stopMsMax)
      throw new Error(`the Postgres with pid ${server.pid}, left by an earlier start, does not stop: kill it`);
    await wait(20);
  }
}

function pidFile(dataFolder: string): string[] {
  try {
    return readFileSync(join(dataFolder, "postmaster.pid"), "utf8").split("\n");
  } catch {
    return [];
  }
}
