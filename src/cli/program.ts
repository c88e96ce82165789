import { Command } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { type CommandName, commandTable, loadCommand } from "./command-table.ts";
import { exits, exitsText } from "./exit.ts";
import type { Output, World } from "./output.ts";

const after = `
Examples:
  $ npx belfry dev                                      start the local system (as npm start)
  $ npx belfry jobs enqueue hello --wait                write a job and wait for its end
  $ npx belfry jobs list --state FAILED --json          for a script
  $ npx belfry --stage prod explain 42                  with the credentials of AWS in the environment

The address: --url, --stage, BELFRY_URL, BELFRY_STAGE, else the running local system. Completion: npx belfry completion --help.`;

/**
 * The command line. Everything speaks to the HTTP API; `migrate` and `doctor` alone touch the database.
 * Only the command that `args` name is loaded, so that help and version cost little; left out: all of them.
 */
export async function program(world: World, out: Output, args?: readonly string[]): Promise<Command> {
  const root = new Command("belfry")
    .description("Scheduled work on AWS that is never lost.")
    .option("--json", "write one JSON object to stdout; messages go to stderr")
    .option("--url <address>", "of the API (default: BELFRY_URL, else the running local system)")
    .option("--stage <name>", "the API of a deployed stage: found by its stack's outputs, requests are signed")
    .option("--region <region>", "where the stage is (default: AWS_REGION, else that of the profile)")
    .option("--profile <name>", "of the AWS credentials (default: AWS_PROFILE)")
    .version(manifest.version)
    .addHelpText("after", after)
    .addHelpText("after", exitsText());
  for (const [name, description] of Object.entries(commandTable) as [CommandName, string][]) {
    const isWanted = args === undefined || args.includes(name) || (name === "events" && args.includes("logs"));
    const command = isWanted ? (await loadCommand[name]())(world, out) : new Command(name);
    root.addCommand(command.description(description));
  }
  return quiet(withAliases(withExits(root)), world);
}

/** The help of each command that does something ends with the codes that it can end with. */
function withExits(command: Command, path = ""): Command {
  for (const each of command.commands) {
    const name = `${path} ${each.name()}`.trim();
    if (exits[name] !== undefined) each.addHelpText("after", exitsText(exits[name]));
    withExits(each, name);
  }
  return command;
}

const aliases: Readonly<Record<string, string>> = { list: "ls", show: "get", delete: "rm", events: "logs" };

/** What people type who come from other command lines. */
function withAliases(command: Command): Command {
  const alias = aliases[command.name()];
  if (alias !== undefined) command.alias(alias);
  command.commands.forEach(withAliases);
  return command;
}

/** Commander throws instead of ending the process, and writes where we say; subcommands inherit nothing of it. */
function quiet(command: Command, world: World): Command {
  command.exitOverride().configureOutput({ writeOut: world.streams.out, writeErr: world.streams.err });
  command.showHelpAfterError("(add --help for what there is)").showSuggestionAfterError(true);
  command.commands.forEach((each) => quiet(each, world));
  return command;
}
