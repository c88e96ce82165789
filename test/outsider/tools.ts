import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const own = fileURLToPath(new URL("tools", import.meta.url));
export const cache = fileURLToPath(new URL("../../node_modules/.cache/belfry-outsider", import.meta.url));
const commandMsMax = 600_000;

export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** Runs a program to its end; a failure is an answer. */
export async function run(file: string, args: readonly string[], options: object = {}): Promise<Ran> {
  try {
    const how = { timeout: commandMsMax, maxBuffer: 64 * 1024 * 1024, ...options };
    const { stdout, stderr } = await promisify(execFile)(file, args, how);
    return { code: 0, output: `${stdout}${stderr}` };
  } catch (error) {
    const { code, stdout, stderr, message } = error as Error & { code: unknown; stdout?: string; stderr?: string };
    return { code: typeof code === "number" ? code : 1, output: `${stdout ?? ""}${stderr ?? ""}` || message };
  }
}

/** A folder with what `from` names, and locks if it has a lock file, in its `node_modules`, installed once. @throws Error */
export async function npmTools(from = own): Promise<string> {
  const files = ["package.json", "package-lock.json"].filter((name) => existsSync(join(from, name)));
  const folder = join(
    cache,
    hash("sha256", files.map((name) => readFileSync(join(from, name), "utf8")).join()).slice(0, 12),
  );
  if (existsSync(join(folder, "done"))) return folder;
  mkdirSync(folder, { recursive: true });
  for (const name of files) cpSync(join(from, name), join(folder, name));
  const { code, output } = await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], {
    cwd: folder,
  });
  if (code !== 0) throw new Error(`what ${from} names could not be installed:\n${output}`);
  writeFileSync(join(folder, "done"), "");
  return folder;
}

/** The folder of the Python programs, or why this machine has none: they come beside what npm brings. */
export async function pythonTools(): Promise<{ readonly bin: string } | { readonly missing: string }> {
  const wanted = readFileSync(join(own, "requirements.txt"), "utf8");
  const folder = join(cache, `python-${hash("sha256", wanted).slice(0, 12)}`);
  const bin = join(folder, "bin");
  if (existsSync(join(folder, "done"))) return { bin };
  const made = await run("python3", ["-m", "venv", folder]);
  if (made.code !== 0) return { missing: made.output.split("\n")[0] ?? "python3 makes no environment" };
  const installed = await run(join(bin, "pip"), ["install", "--quiet", "-r", join(own, "requirements.txt")]);
  if (installed.code !== 0) return { missing: installed.output.split("\n")[0] ?? "pip installs nothing" };
  writeFileSync(join(folder, "done"), "");
  return { bin };
}
