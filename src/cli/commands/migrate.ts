import { Command } from "commander";
import { CliError, exitCodes } from "../exit.ts";
import type { Output } from "../output.ts";
import type { World } from "../run.ts";

export function migrateCommand(world: World, out: Output): Command {
  return new Command("migrate")
    .description("bring the database to this release's schema; safe to run again")
    .option("--database-url <url>", "default: DATABASE_URL")
    .addHelpText("after", "\nExample:\n  $ DATABASE_URL=postgresql://... npx belfry migrate")
    .action(async ({ databaseUrl }: { databaseUrl?: string }) => {
      const url = databaseUrl ?? world.env["DATABASE_URL"];
      if (!url)
        throw new CliError(exitCodes.usage, "no-database", "name the database: set DATABASE_URL or --database-url");
      out.result({}, () => "");
    });
}
