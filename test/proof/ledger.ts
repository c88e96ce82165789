import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** One thing the outside world saw, in the order in which it saw it. */
export interface LedgerRecord {
  readonly n: number;
  /** The target's own clock, milliseconds since 1970. */
  readonly at: number;
  readonly what: "effect" | "start" | "stop" | "killed";
  /** The idempotency key the handler sent along. */
  readonly key: string;
  readonly job: string;
  readonly attempt: number;
  readonly pid: number;
  /** Whatever else the handler said: which item, which occurrence. */
  readonly note: string;
}

export interface Ledger {
  /** Where handlers send their effects. */
  readonly url: string;
  read(): readonly LedgerRecord[];
  /** The harness's own note, in the same order as everything else: this process was killed before this record. */
  noteKilled(pid: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the target as a process of its own; its file outlives it. */
export async function startLedger(file: string): Promise<Ledger> {
  const program = fileURLToPath(new URL("./ledger-target.ts", import.meta.url));
  const child = spawn(process.execPath, [program, file], { stdio: ["pipe", "pipe", "inherit"] });
  const [first] = (await once(child.stdout, "data")) as [Buffer];
  const url = `http://127.0.0.1:${Number(first.toString())}`;
  return {
    url,
    read: () =>
      existsSync(file)
        ? readFileSync(file, "utf8")
            .split("\n")
            .filter((line) => line !== "")
            .map((line) => JSON.parse(line) as LedgerRecord)
        : [],
    async noteKilled(pid) {
      const body = JSON.stringify({ what: "killed", key: "", job: "", attempt: 0, pid, note: "" });
      await fetch(url, { method: "POST", body });
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
    },
  };
}
