import { CommanderError } from "commander";
import { CliError, type ExitCode, exitCodes, Finished } from "./exit.ts";
import { output, type Output } from "./output.ts";
import { program } from "./program.ts";
import type { World } from "./world.ts";

/**
 * Runs one command line (without the program's name). @returns the exit code, at once when it is interrupted: what still
 * waits for an answer then has nothing to clean up; never throws.
 */
export async function run(args: readonly string[], world: World): Promise<ExitCode> {
  const { promise, resolve } = Promise.withResolvers<ExitCode>();
  world.interrupted?.addEventListener("abort", () => resolve(exitCodes.interrupted), { once: true });
  return await Promise.race([promise, toEnd(args, world)]);
}

async function toEnd(args: readonly string[], world: World): Promise<ExitCode> {
  const out = output(world.streams, args.includes("--json"));
  try {
    await program(world, out).parseAsync(args, { from: "user" });
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof Finished) return error.exitCode;
    if (error instanceof CommanderError) return parsed(error, out);
    out.error(error instanceof CliError ? error : new CliError(exitCodes.failure, "unexpected", text(error)));
    return error instanceof CliError ? error.exitCode : exitCodes.failure;
  }
}

/** Help and version end here too. A usage error was written to stderr already, with a hint of what was meant. */
function parsed(error: CommanderError, out: Output): ExitCode {
  if (error.exitCode === 0) return exitCodes.ok;
  const message = error.code === "commander.help" ? "name a command" : error.message.replace(/^error: /, "");
  out.errorResult(new CliError(exitCodes.usage, "usage", message));
  return exitCodes.usage;
}

/** Something nobody foresaw: its stack is what helps. */
const text = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
