/**
 * Waits for the end of the process that started it, however it ends, and then clears away what that left behind: the
 * processes recorded below its folder, its Postgres, and unless it is kept, the folder.
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Children } from "../../src/local/process/children.ts";
import { identityOf, signalProcess } from "../../src/local/process/operating-system.ts";

const [folder, postgresPid, keep] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: watchdog.ts FOLDER POSTGRES_PID [keep]");
const postgres = identityOf(Number(postgresPid));

// Ctrl-C reaches the whole group, and the one watched has its own way to end.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
process.stdin.resume();
process.stdin.once("close", () => void clear(folder));

async function clear(left: string): Promise<void> {
  if (!existsSync(left)) return;
  for (const entry of readdirSync(left)) {
    const home = join(left, entry, "system");
    if (existsSync(home)) await new Children(home).endLeftovers();
  }
  if (postgres !== null) signalProcess(postgres, "SIGQUIT");
  if (keep !== "keep") rmSync(left, { recursive: true, force: true });
}
