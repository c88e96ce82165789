import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Answer, Order } from "./session.ts";

/** A mutant in a hundred never ends; a session also grows with each run. */
const ordersMax = 150;

export interface Sessions {
  /** Null when the session had to be killed. */
  ask(order: Order, limitMs: number): Promise<Answer | null>;
  /** The process of the last session, which its databases are named after. */
  pid(): number | null;
  close(): Promise<void>;
}

/** One session at a time, in a process group of its own, so that all its test processes end with it. */
export function openSessions(databaseUrl: string, hitsFile: string, onRan: (file: string) => void): Sessions {
  let open: { child: ChildProcess; folder: string; orders: number } | null = null;
  let pid: number | null = null;

  async function started(): Promise<NonNullable<typeof open>> {
    if (open !== null && open.orders < ordersMax) return open;
    await end();
    const folder = mkdtempSync(join(tmpdir(), "belfry-mutate-"));
    const child = fork(resolve(import.meta.dirname, "session.ts"), {
      detached: true,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: {
        ...process.env,
        TZ: "UTC",
        TMPDIR: folder,
        DATABASE_URL: databaseUrl,
        BELFRY_HITS_FILE: hitsFile,
        HISTORIES: "100",
      },
    });
    await once(child, "message");
    open = { child, folder, orders: 0 };
    pid = child.pid ?? null;
    return open;
  }

  async function end(): Promise<void> {
    if (open === null) return;
    const { child, folder } = open;
    open = null;
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, "SIGKILL");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  }

  return {
    async ask(order, limitMs) {
      const session = await started();
      session.orders += 1;
      const answered = new Promise<Answer | null>((done) => {
        const timer = setTimeout(() => done(null), limitMs);
        const end = (answer: Answer | null): void => {
          clearTimeout(timer);
          session.child.removeAllListeners();
          done(answer);
        };
        session.child.on("message", (answer: Answer) => (answer.is === "ran" ? onRan(answer.file) : end(answer)));
        session.child.once("exit", () => end(null));
      });
      session.child.send(order);
      const answer = await answered;
      if (answer === null) await end();
      return answer;
    },
    pid: () => pid,
    close: end,
  };
}
