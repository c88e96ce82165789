import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Started {
  /** Of the console's API, as the terminal shows it. */
  readonly url: string;
  /** What stands in the terminal now: a line that was rewritten stands there once. Colours are kept. */
  screen(): string;
  /** As Ctrl-C does; removes what was left behind. */
  stop(): Promise<void>;
}

const project = fileURLToPath(new URL("../../", import.meta.url));
const clearLine = "\u001B[2K\r";
const startSecondsMax = 180;

/** `npm start` on fresh state in a terminal of its own, which util-linux's `script` provides. */
export async function npmStart(): Promise<Started> {
  const home = mkdtempSync(join(tmpdir(), "belfry-pictures-"));
  // Postgres may run as another user, and keeps its data here when that one may come in.
  chmodSync(home, 0o755);
  const child = spawn("script", ["-qfec", "npm start -- --examples", "/dev/null"], {
    cwd: project,
    env: { ...process.env, BELFRY_HOME: home },
    stdio: ["pipe", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  try {
    return {
      url: await addressIn(() => output, child),
      screen: () => shown(output, home),
      stop: () => stop(child, home),
    };
  } catch (error) {
    await stop(child, home);
    throw error;
  }
}

async function addressIn(output: () => string, child: ChildProcess): Promise<string> {
  const endsAt = performance.now() + startSecondsMax * 1_000;
  while (child.exitCode === null && performance.now() < endsAt) {
    const found = /(http:\/\/[\d.:]+)\/console\//.exec(output());
    if (found?.[1] !== undefined && output().includes("Ctrl-C")) return found[1];
    await once(child.stdout ?? child, "data");
  }
  throw new Error(`npm start printed no address: ${output()}`);
}

async function stop(child: ChildProcess, home: string): Promise<void> {
  if (child.exitCode === null) {
    const ended = once(child, "exit");
    child.stdin?.write("\u0003");
    await ended;
  }
  rmSync(home, { recursive: true, force: true });
}

/** npm's own remarks on the machine, its folder and the password of its database are no part of the picture. */
function shown(output: string, home: string): string {
  const lines = output.replaceAll("\r\n", "\n").split("\n");
  return lines
    .map((line) => line.split(clearLine).at(-1) ?? "")
    .filter((line) => !/^\S*npm\S* /.test(line))
    .join("\n")
    .replaceAll(home, ".belfry")
    .replace(/\/\/([^:/@\s]+):[^@\s]+@/, "//$1:***@")
    .trim();
}
