/** ministack: an AWS emulator from PyPI that deploys CloudFormation and runs Lambda functions as local processes. */
import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { stopProcess } from "./stop-process.ts";
import { until } from "../proof/until.ts";

/** Pinned, because emulators change fast: a newer one may need other repairs. */
export const ministackVersion = "1.5.33";

const installMsMax = 300_000;
const startMsMax = 60_000;

export type Installed = { readonly program: string } | { readonly skipped: string };

const environmentIn = (folder: string): string => join(folder, `ministack-${ministackVersion}`);

/** Its program, where an earlier `npm run deploy:emulator` has installed it. */
export function installedMinistack(folder: string): string | null {
  const environment = environmentIn(folder);
  return existsSync(join(environment, "installed")) ? join(environment, "bin", "ministack") : null;
}

/** Into a virtual environment of its own below `folder`; kept for the next time. */
export function installMinistack(folder: string): Installed {
  const environment = environmentIn(folder);
  const program = join(environment, "bin", "ministack");
  const done = join(environment, "installed");
  if (existsSync(done)) return { program };
  const python = spawnSync("python3", ["-c", "import sys, venv, ensurepip; print(sys.version_info >= (3, 10))"]);
  if (python.status !== 0) return { skipped: "python3 with venv and pip is not on this machine" };
  if (!python.stdout.toString().includes("True")) return { skipped: "python3 is older than 3.10" };
  mkdirSync(folder, { recursive: true });
  run("python3", ["-m", "venv", environment]);
  run(join(environment, "bin", "pip"), ["install", "--quiet", `ministack==${ministackVersion}`]);
  writeFileSync(done, `${ministackVersion}\n`);
  return { program };
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8", timeout: installMsMax });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stderr}`);
}

export interface Emulator {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Bound to loopback; its functions run with the Node that runs this. */
export async function startMinistack(options: { program: string; folder: string; port: number }): Promise<Emulator> {
  const { program, folder, port } = options;
  const state = join(folder, "state");
  mkdirSync(state, { recursive: true });
  const endpoint = `http://127.0.0.1:${port}`;
  const child = spawn(program, [], {
    cwd: state,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      HOME: state,
      TMPDIR: process.env["TMPDIR"] ?? "/tmp",
      PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
      BIND_HOST: "127.0.0.1",
      GATEWAY_PORT: String(port),
      IOT_MTLS_ENABLED: "0",
      LAMBDA_EXECUTOR: "local",
      PERSIST_STATE: "0",
    },
  });
  const log = createWriteStream(join(folder, "ministack.log"));
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  await until(`ministack answers on ${endpoint}`, startMsMax, async () => {
    if (child.exitCode !== null)
      throw new Error(`ministack ended with code ${child.exitCode}: see ${folder}/ministack.log`);
    const response = await fetch(`${endpoint}/_ministack/health`).catch(() => null);
    return response?.ok === true;
  });
  return { endpoint, stop: () => stopProcess(child) };
}
