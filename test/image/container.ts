/** One container as Fargate would start it: the image's own user and command, a read-only root, SIGTERM to process 1. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ImageConfig } from "./builder.ts";

export interface ContainerOptions {
  readonly folder: string;
  /** The image's files. */
  readonly root: string;
  readonly config: ImageConfig;
  readonly environment: Readonly<Record<string, string>>;
  /** In the place of the image's command, as a task definition gives it. */
  readonly command?: readonly string[];
  /** In the place of the image's entry point. */
  readonly entrypoint?: readonly string[];
}

export interface Container {
  readonly ended: Promise<{ readonly code: number | null; readonly said: string }>;
  terminate(): void;
}

const runMsMax = 120_000;
let started = 0;

export function startContainer(options: ContainerOptions): Container {
  started += 1;
  const id = `belfry-image-${process.pid}-${started}`;
  const bundle = join(options.folder, id);
  mkdirSync(bundle, { recursive: true });
  writeFileSync(join(bundle, "config.json"), JSON.stringify(specOf(options)));
  const state = ["--root", join(options.folder, "runc")];
  const child = spawn("runc", [...state, "run", "--bundle", bundle, id], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: runMsMax,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (said += data.toString()));
  return {
    ended: once(child, "close").then(([code]) => ({ code: code as number | null, said })),
    terminate() {
      const { status, stderr } = spawnSync("runc", [...state, "kill", id, "TERM"], { encoding: "utf8" });
      if (status !== 0) throw new Error(`runc kill failed: ${stderr}`);
    },
  };
}

/** As the OCI runtime specification has it. No capability, no other user, the network of this machine. */
function specOf({ root, config, environment, command, entrypoint }: ContainerOptions): unknown {
  const given = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const mounted = (destination: string, type: string, more: readonly string[] = []) => ({
    destination,
    type,
    source: type,
    options: ["nosuid", "noexec", ...more],
  });
  return {
    ociVersion: "1.0.2",
    process: {
      terminal: false,
      user: userOf(root, config.User ?? "root"),
      args: [...(entrypoint ?? config.Entrypoint ?? []), ...(command ?? config.Cmd ?? [])],
      env: ["PATH=/usr/local/bin:/usr/bin:/bin", ...(config.Env ?? []), ...given],
      cwd: config.WorkingDir ?? "/",
      noNewPrivileges: true,
    },
    root: { path: root, readonly: true },
    mounts: [mounted("/proc", "proc"), mounted("/dev", "tmpfs", ["mode=755", "size=65536k"])],
    linux: { namespaces: ["pid", "mount", "ipc", "uts"].map((type) => ({ type })) },
  };
}

function userOf(root: string, name: string): { uid: number; gid: number } {
  const line = readFileSync(join(root, "etc/passwd"), "utf8")
    .split("\n")
    .find((each) => each.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  if (uid === undefined || gid === undefined) throw new Error(`the image has no user "${name}"`);
  return { uid: Number(uid), gid: Number(gid) };
}
