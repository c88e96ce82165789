import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
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
  let open: { readonly group: Group; orders: number } | null = null;
  let pid: number | null = null;

  async function started(): Promise<NonNullable<typeof open>> {
    if (open !== null && open.orders < ordersMax) return open;
    await end();
    const group = await startGroup(resolve(import.meta.dirname, "session.ts"), {
      DATABASE_URL: databaseUrl,
      BELFRY_HITS_FILE: hitsFile,
    });
    open = { group, orders: 0 };
    pid = group.child.pid ?? null;
    return open;
  }

  async function end(): Promise<void> {
    if (open === null) return;
    const { group } = open;
    open = null;
    await group.end();
  }

  return {
    async ask(order, limitMs) {
      const session = await started();
      session.orders += 1;
      const answered = new Promise<Answer | null>((done) => {
        const timer = setTimeout(() => done(null), limitMs);
        const end = (answer: Answer | null): void => {
          clearTimeout(timer);
          session.group.child.removeAllListeners();
          done(answer);
        };
        session.group.child.on("message", (answer: Answer) => (answer.is === "ran" ? onRan(answer.file) : end(answer)));
        session.group.child.once("exit", () => end(null));
      });
      session.group.child.send(order);
      const answer = await answered;
      if (answer === null) await end();
      return answer;
    },
    pid: () => pid,
    close: end,
  };
}

/** A process that leads a group of its own, so that all its test processes end with it. */
interface Group {
  readonly child: ChildProcess;
  end(): Promise<void>;
}

/** Forks the script and waits for its first message. */
async function startGroup(script: string, env: Readonly<Record<string, string>>): Promise<Group> {
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
