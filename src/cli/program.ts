import { Command } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { bundleCommand } from "./commands/bundle.ts";
import { consoleCommand } from "./commands/console.ts";
import { initCommand } from "./commands/init.ts";
import { checkCommand } from "./commands/check.ts";
import { deadLettersCommand } from "./commands/dead-letters.ts";
import { devCommand } from "./commands/dev.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { explainCommand } from "./commands/explain.ts";
import { jobsCommand } from "./commands/jobs.ts";
import { lanesCommand } from "./commands/lanes.ts";
import { locksCommand } from "./commands/locks.ts";
import { logsCommand } from "./commands/logs.ts";
import { migrateCommand } from "./commands/migrate.ts";
import { runsCommand } from "./commands/runs.ts";
import { schedulesCommand } from "./commands/schedules.ts";
import { workersCommand } from "./commands/workers.ts";
import { exits, exitsText } from "./exits.ts";
import type { Output } from "./output.ts";
import type { World } from "./world.ts";

const after = `
Examples:
  $ npx belfry dev                                      start the local system (as npm start)
  $ npx belfry jobs enqueue hello --wait                write a job and wait for its end
  $ npx belfry jobs list --state FAILED --json          for a script
  $ npx belfry --stage prod explain 42                  with the credentials of AWS in the environment`;

/** The command line. Everything speaks to the HTTP API; `migrate` and `doctor --local` alone touch the database. */
export function program(world: World, out: Output): Command {
  const root = new Command("belfry")
    .description("Scheduled work on AWS that is never lost.")
    .option("--json", "write one JSON object to stdout; messages go to stderr")
    .option("--url <address>", "of the API (default: BELFRY_URL, else the running local system)")
    .option("--stage <name>", "the API of a deployed stage: found by its stack's outputs, requests are signed")
    .version(manifest.version)
    .addHelpText("after", after)
    .addHelpText("after", exitsText());
  for (const command of [
    jobsCommand,
    runsCommand,
    schedulesCommand,
    deadLettersCommand,
    lanesCommand,
    locksCommand,
    workersCommand,
    explainCommand,
    logsCommand,
    checkCommand,
    migrateCommand,
    doctorCommand,
    initCommand,
    bundleCommand,
    consoleCommand,
    devCommand,
  ]) {
    root.addCommand(command(world, out));
  }
  return quiet(withExits(root), world);
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

/** Commander throws instead of ending the process, and writes where we say; subcommands inherit nothing of it. */
function quiet(command: Command, world: World): Command {
  command.exitOverride().configureOutput({ writeOut: world.streams.out, writeErr: world.streams.err });
  command.showHelpAfterError("(add --help for what there is)").showSuggestionAfterError(true);
  command.commands.forEach((each) => quiet(each, world));
  return command;
}
