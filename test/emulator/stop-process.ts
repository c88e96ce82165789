import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

const stopMs = 10_000;

/** SIGTERM, and SIGKILL when that was not enough. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const kill = setTimeout(() => child.kill("SIGKILL"), stopMs);
  await ended;
  clearTimeout(kill);
}
