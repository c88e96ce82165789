/** buildah and runc: they build and run an image without a daemon, by root, on this machine's network. */
import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** What an image says about the process it starts. */
export interface ImageConfig {
  readonly User?: string;
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly WorkingDir?: string;
}

export interface Builder {
  build(options: BuildOptions): Promise<void>;
  inspect(image: string): Promise<ImageConfig>;
  /** A container's files, on this machine. */
  mount(image: string): Promise<string>;
  remove(): Promise<void>;
}

export interface BuildOptions {
  readonly context: string;
  readonly image: string;
  readonly arguments?: Readonly<Record<string, string>>;
}

/** Why the image cannot be built here; null when it can. */
export function missing(): string | null {
  if (process.platform !== "linux") return "it is built and run on Linux only";
  if (process.getuid?.() !== 0) return "building in a chroot and running with runc take root";
  const absent = ["buildah", "runc"].filter((each) => spawnSync(each, ["--version"]).error !== undefined);
  return absent.length === 0 ? null : `not on this machine: ${absent.join(", ")} (apt-get install buildah runc)`;
}

/** Keeps everything below `folder`; images and containers of the machine are not touched. */
export function builderIn(folder: string): Builder {
  const store = ["--root", join(folder, "store"), "--runroot", join(folder, "run"), "--storage-driver", "vfs"];
  const buildah = (...args: readonly string[]): Promise<string> => run("buildah", [...store, ...args]);
  const containers: string[] = [];
  // Where a registry of packages needs a name or a cache, the machine's npm has it; neither gets into the image.
  const npmrc = join(homedir(), ".npmrc");
  const volumes = existsSync(npmrc) ? ["--volume", `${npmrc}:/root/.npmrc:ro`] : [];
  return {
    async build({ context, image, arguments: given = {} }) {
      const values = Object.entries(given).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]);
      const how = ["--isolation", "chroot", "--network", "host", "--pull-never", ...volumes, ...values];
      await buildah("bud", ...how, "--tag", image, context);
    },
    async inspect(image) {
      const { OCIv1 } = JSON.parse(await buildah("inspect", "--type", "image", image)) as {
        OCIv1: { config: ImageConfig };
      };
      return OCIv1.config;
    },
    async mount(image) {
      const container = (await buildah("from", "--pull-never", image)).trim();
      containers.push(container);
      return (await buildah("mount", container)).trim();
    },
    async remove() {
      for (const container of containers) await buildah("rm", container);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const buildMsMax = 900_000;

async function run(command: string, args: readonly string[]): Promise<string> {
  const options = { timeout: buildMsMax, maxBuffer: 64 * 1_024 * 1_024 };
  try {
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (cause) {
    const { stdout = "", stderr = "" } = cause as { stdout?: string; stderr?: string };
    throw new Error(`${command} failed:\n${`${stdout}\n${stderr}`.slice(-4_000)}`, { cause });
  }
}

/**
 * Where no registry is reached: the files of this machine that the Dockerfile uses of its base. The Node that `npm ci` brought,
 * the machine's npm, a shell and their libraries, and the user `node` as the real base has it.
 */
export async function layOutBase(folder: string): Promise<void> {
  const root = join(folder, "root");
  const npm = dirname(dirname(realpathSync((await run("sh", ["-c", "command -v npm"])).trim())));
  for (const each of ["tmp", "proc", "sys", "dev", "root", "etc/ssl/certs"])
    mkdirSync(join(root, each), { recursive: true });
  copy(process.execPath, join(root, "usr/local/bin/node"));
  copy(realpathSync("/bin/sh"), join(root, "bin/sh"));
  for (const program of [process.execPath, realpathSync("/bin/sh")]) {
    const libraries = (await run("ldd", [program])).match(/\/[^ )]+\.so[^ )]*/g) ?? [];
    for (const library of libraries) copy(library, join(root, library));
  }
  cpSync(npm, join(root, "usr/local/lib/node_modules/npm"), { recursive: true, dereference: true });
  const start = '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n';
  writeFileSync(join(root, "usr/local/bin/npm"), start, { mode: 0o755 });
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n");
  writeFileSync(join(root, "etc/group"), "root:x:0:\nnode:x:1000:\n");
  const authorities = process.env["NODE_EXTRA_CA_CERTS"];
  if (authorities !== undefined) copy(authorities, join(root, "etc/ssl/certs/extra.pem"));
  const extra = authorities === undefined ? "" : "ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/extra.pem\n";
  writeFileSync(join(folder, "Dockerfile"), `FROM scratch\nCOPY root/ /\n${extra}`);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
