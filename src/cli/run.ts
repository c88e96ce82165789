import { dirname } from "node:path";
import type { CommanderError } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { CliError, type ExitCode, exitCodes, Finished, wrongUsage } from "./exit.ts";
import { output, type Output, type World } from "./output.ts";

/**
 * Runs one command line (without the program's name). @returns the exit code, at once when it is interrupted: what still
 * waits for an answer then has nothing to clean up; never throws.
 */
export async function runCommandLine(args: readonly string[], world: World): Promise<ExitCode> {
  const { promise, resolve } = Promise.withResolvers<ExitCode>();
  world.interrupted?.addEventListener("abort", () => resolve(exitCodes.interrupted), { once: true });
  return await Promise.race([promise, toEnd(args, world)]);
}

async function toEnd(args: readonly string[], world: World): Promise<ExitCode> {
  const out = output(world.streams, args.includes("--json"));
  try {
    if (asksVersion(args)) {
      world.streams.out(`${manifest.version}\n`);
      return exitCodes.ok;
    }
    if (args[0] === "__complete") {
      const { complete } = await import("./complete.ts");
      world.streams.out((await complete(args.slice(1), world)).map((each) => `${each}\n`).join(""));
      return exitCodes.ok;
    }
    const { program } = await import("./program.ts");
    const line = args[0] === "help" && args.length > 1 ? [...args.slice(1), "--help"] : args;
    await (await program(world, out, line)).parseAsync(line, { from: "user" });
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof Finished) return error.exitCode;
    if (isOfCommander(error)) return parsed(error, out);
    const shown = error instanceof CliError ? error : await unexpected(error, world);
    out.error(shown);
    return shown.exitCode;
  }
}

/** Help and version end here too. A usage error was written to stderr already, with a hint of what was meant. */
function parsed(error: CommanderError, out: Output): ExitCode {
  if (error.exitCode === 0) return exitCodes.ok;
  const message = error.code === "commander.help" ? "name a command" : error.message.replace(/^error: /, "");
  if (/^unknown option '(-o|--output|--format)/.test(message)) out.note("(for JSON: --json)");
  out.errorResult(wrongUsage("usage", message));
  return exitCodes.usage;
}

const asksVersion = ([first, ...rest]: readonly string[]): boolean =>
  rest.length === 0 && (first === "--version" || first === "-V" || first === "version");

const isOfCommander = (error: unknown): error is CommanderError =>
  error instanceof Error && "code" in error && String(error.code).startsWith("commander.");

/** Of the project's own code its place is what helps, of anything else its stack. */
async function unexpected(error: unknown, { folder }: World): Promise<CliError> {
  const { DefinitionProblems } = await import("../define/problem.ts");
  if (error instanceof DefinitionProblems) return new CliError(exitCodes.failure, "problems", error.message);
  const { findConfig } = await import("../stage/project.ts").catch(() => ({ findConfig: () => null }));
  const config = findConfig(folder);
  const { thrownAt } = await import("../stage/thrown-at.ts");
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new CliError(
    exitCodes.failure,
    "unexpected",
    thrownAt(error, config === null ? folder : dirname(config)) ?? stack,
  );
}
