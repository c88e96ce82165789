import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createRequire, getCompileCacheDir } from "node:module";
import { Command } from "commander";
import { CliError, type ExitCode, exitCodes, Finished } from "../exit.ts";

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
    .action(async (options: string[], _: object, command: Command) => {
      needLocal();
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      const code = await start(json === true ? [...options, "--json"] : options);
      if (code !== 0) throw new Finished(known(code));
    });
}

/** A program that only enqueues installs no Postgres; the repository has all of it. */
function needLocal(): void {
  if (import.meta.filename.endsWith(".ts")) return;
  try {
    createRequire(import.meta.url).resolve("belfry-local/package.json");
  } catch {
    throw new CliError(exitCodes.failure, "no-belfry-local", "the local system is a package of its own", [
      "install it in the version of belfry: npm install -D belfry-local",
    ]);
  }
}

const known = (code: number): ExitCode =>
  code === exitCodes.usage || code === exitCodes.interrupted ? code : exitCodes.failure;

/** Its own process, so that what the command line loaded is not part of the system. It stops itself on signals. */
async function start(options: readonly string[]): Promise<number> {
  // As the processes that it starts. A cache spares TypeScript the way to JavaScript; of JavaScript it is 6 MB more in each process.
  const isCompiled = import.meta.filename.endsWith(".js");
  const cache = isCompiled ? {} : { NODE_COMPILE_CACHE: getCompileCacheDir() };
  const flags = ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--max-semi-space-size=1"];
  // What a start has freed goes back to the system: glibc keeps up to 64 MB of it otherwise.
  const env = { ...cache, MALLOC_TRIM_THRESHOLD_: "131072", ...process.env };
  const child = spawn(process.execPath, [...flags, local, "start", ...options], { stdio: "inherit", env });
  process.removeAllListeners("SIGINT");
  // The terminal sends Ctrl-C to the child as well: this process only waits for it to stop.
  let isInterrupted = false;
  process.on("SIGINT", () => (isInterrupted = true));
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(isInterrupted ? exitCodes.interrupted : (code ?? 1)));
  });
}
