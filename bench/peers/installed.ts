import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const own = fileURLToPath(new URL(".", import.meta.url));
const cache = fileURLToPath(new URL("../../node_modules/.cache/belfry-peers", import.meta.url));

/** The folder with the peers in its `node_modules`, installed once for each lock file. @throws Error */
export function installedPeers(): string {
  const folder = join(cache, hash("sha256", readFileSync(join(own, "package-lock.json"), "utf8")).slice(0, 12));
  if (existsSync(join(folder, "done"))) return folder;
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) cpSync(join(own, name), join(folder, name));
  const args = ["ci", "--no-audit", "--no-fund", "--ignore-scripts"];
  execFileSync("npm", args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  writeFileSync(join(folder, "done"), "");
  return folder;
}
