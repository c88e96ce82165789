import { fileURLToPath } from "node:url";
import { createRequire, flushCompileCache, getCompileCacheDir } from "node:module";
import { Command } from "commander";
import { CliError, exitCodes } from "../exit.ts";

const local = fileURLToPath(new URL("../../local/main.ts", import.meta.url));

export function devCommand(): Command {
  return new Command("dev")
    .addHelpText(
      "after",
      `
Options of the local system:
  --port N      of the API (4400, or a free one when that is taken)
  --stage NAME  of belfry.config.ts (dev)
  --examples    the stage examples of belfry.config.ts
  --json        one JSON object a line
  --inspect[=PORT]  debuggers may attach to workers and tasks, from this port on (9229)

Example:
  $ npx belfry dev

Stops on Ctrl-C. State lives in .belfry (BELFRY_HOME overrides) and survives. DATABASE_URL and AWS_ENDPOINT_URL* replace parts.`,
    )
    .allowUnknownOption()
    .argument("[options...]", "passed on to the local system")
    .action((options: string[], _: object, command: Command) => {
      needLocal();
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      become(json === true ? [...options, "--json"] : options);
    });
}

/** A program that only enqueues installs no Postgres; the repository has all of it. */
function needLocal(): void {
  if (process.platform === "win32")
    throw new CliError(exitCodes.failure, "no-local-system", "the local system runs on Linux and macOS only");
  if (import.meta.filename.endsWith(".ts")) return;
  try {
    createRequire(import.meta.url).resolve("belfry-local/package.json");
  } catch {
    throw new CliError(exitCodes.failure, "no-belfry-local", "the local system is a package of its own", [
      "install it in the version of belfry: npm install -D belfry-local",
    ]);
  }
}

/** The system takes the place of this process: what the command line loaded is not part of it. It stops itself on signals. */
function become(options: readonly string[]): void {
  // As the processes that it starts. A cache spares TypeScript the way to JavaScript; of JavaScript it is 6 MB more in each process.
  const folder = import.meta.filename.endsWith(".js") ? undefined : getCompileCacheDir();
  const cache = folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
  const flags = ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--max-semi-space-size=1"];
  // What a start has freed goes back to the system: glibc keeps up to 64 MB of it otherwise.
  const env = { ...cache, MALLOC_TRIM_THRESHOLD_: "131072", ...process.env };
  flushCompileCache();
  process.execve?.(process.execPath, [process.execPath, ...flags, local, "start", ...options], env);
}
