import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A process that leads a group of its own, so that all its test processes end with it. */
export interface Group {
  readonly child: ChildProcess;
  end(): Promise<void>;
}

/** Forks the script and waits for its first message. */
export async function startGroup(script: string, env: Readonly<Record<string, string>>): Promise<Group> {
  const folder = mkdtempSync(join(tmpdir(), "belfry-mutate-"));
  const child = fork(script, {
    detached: true,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...process.env, TZ: "UTC", TMPDIR: folder, HISTORIES: "100", ...env },
  });
  await once(child, "message");
  return {
    child,
    async end() {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
        process.kill(-child.pid, "SIGKILL");
        await once(child, "exit");
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
