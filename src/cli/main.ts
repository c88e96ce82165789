import { exitCodes } from "./exit.ts";
import { run } from "./run.ts";

/** Runs the command line of this process and sets its exit code. */
export async function main(): Promise<void> {
  // A waiting or talking command has nothing to clean up; `dev` handles its own signals.
  process.once("SIGINT", () => process.exit(exitCodes.interrupted));
  // `belfry jobs list | head` closes the pipe early; that is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  process.exitCode = await run(process.argv.slice(2), {
    streams: {
      out: (text) => process.stdout.write(text),
      err: (text) => process.stderr.write(text),
      isTerminal: process.stdout.isTTY,
    },
    env: process.env,
    folder: process.cwd(),
  });
}

if (import.meta.main) await main();
