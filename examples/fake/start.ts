import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface FakeProcess {
  /** The folder with its ledger. */
  readonly home: string;
  /** What it printed about itself. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Starts one fake for a test, as the local system does for a day. */
export async function startFake(file: URL, env: Readonly<Record<string, string>> = {}): Promise<FakeProcess> {
  const home = mkdtempSync(join(tmpdir(), "belfry-example-"));
  const child = spawn(process.execPath, [fileURLToPath(file)], {
    env: { PATH: process.env["PATH"] ?? "", FAKE_HOME: home, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return {
    home,
    env: (JSON.parse(line) as { env: Record<string, string> }).env,
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
      rmSync(home, { recursive: true, force: true });
    },
  };
}
