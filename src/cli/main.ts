import { exitCodes } from "./exit.ts";
import { runCommandLine } from "./run.ts";

/** Runs the command line of this process and sets its exit code. */
export async function main(): Promise<void> {
  readEnvFile();
  // After `dev` this process is the system, which takes signals for itself.
  const interrupt = new AbortController();
  process.once("SIGINT", () => interrupt.abort());
  // `belfry jobs list | head` closes the pipe early; that is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  const code = await runCommandLine(process.argv.slice(2), {
    streams: {
      out: (text) => process.stdout.write(text),
      err: (text) => process.stderr.write(text),
      isTerminal: process.stdout.isTTY,
      columns: process.stdout.columns,
    },
    env: process.env,
    folder: process.cwd(),
    interrupted: interrupt.signal,
  });
  // What was interrupted may go on waiting for an answer.
  if (code === exitCodes.interrupted) process.exit(code);
  process.exitCode = code;
}

/** Settings of this machine: variables in `.env` of the current folder, for what the shell does not set itself. */
function readEnvFile(): void {
  try {
    process.loadEnvFile(".env");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

if (import.meta.main) await main();
