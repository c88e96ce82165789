import { fileURLToPath } from "node:url";
import { createRequire, getCompileCacheDir } from "node:module";
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
  if (import.meta.filename.endsWith(".ts")) return;
  try {
    createRequire(import.meta.url).resolve("belfry-local/package.json");
  } catch {
    throw new CliError(exitCodes.failure, "no-belfry-local", "the local system is a package of its own", [
      "install it in the version of belfry: npm install -D belfry-local",
    ]);
  }
}

/** In place of this process, so that what the command line loaded is not part of the system. */
function become(options: readonly string[]): never {
  // As the processes that it starts, which compile the same modules: the first one keeps them for the others and for the next start.
  const flags = ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--max-semi-space-size=1"];
  const env = { NODE_COMPILE_CACHE: getCompileCacheDir(), ...process.env };
  process.execve?.(process.execPath, [process.argv0, ...flags, local, "start", ...options], env);
  throw new CliError(exitCodes.failure, "unsupported-system", "the local system needs Linux or macOS");
}
