import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { migrate, type Migrated } from "../../postgres/migrate.ts";
import { loadApps } from "../../compose/apps.ts";
import { asCell } from "../../stage/stages.ts";
import type { AppDefinition } from "../../define/definition.ts";
import { projectOf, stageIn } from "../project.ts";
import { storedDifferences } from "../database.ts";
import { CliError, exitCodes, messageOf, wrongUsage } from "../exit.ts";
import type { Output, World } from "../output.ts";

/**
 * Belfry's own tables, then those of the stage's apps. Two at once wait for each other. Also says how the stored schedules
 * differ from this checkout's, which the next start or deploy installs.
 */
export function migrateCommand(world: World, out: Output): Command {
  return new Command("migrate")
    .option("--database-url <url>", "default: DATABASE_URL")
    .option("--stage <name>", "whose apps' tables (default: BELFRY_STAGE, else dev)")
    .option(
      "--restored",
      "the database lost a time: readers of its events get a gap notice, and no new job the id of one that is lost",
      false,
    )
    .addHelpText("after", "\nExample:\n  $ DATABASE_URL=postgresql://... npx belfry migrate --stage prod")
    .action(async (_: object, command: Command) => {
      // The program has an option of this name too, and takes it wherever it stands.
      const given = command.optsWithGlobals<{ databaseUrl?: string; stage?: string; restored: boolean }>();
      const { databaseUrl, stage = world.env["BELFRY_STAGE"] ?? "dev", restored: isRestored } = given;
      const url = databaseUrl ?? world.env["DATABASE_URL"];
      if (!url) throw wrongUsage("no-database", noDatabase);
      const project = await projectOf(world);
      const own = asCell(stageIn(project, stage), cellIn(world.env["BELFRY_CELL"]));
      const apps = await loadApps(project, own);
      const sets = await migrateAll({ url, isRestored, cell: own.cell?.number }, apps);
      const differences = await storedDifferences(url, apps, stage);
      out.result({ stage, sets, differences }, () =>
        [...sets.map(lineOf), ...differences.map((difference) => `next start: ${difference}`)].join("\n"),
      );
    });
}

const noDatabase =
  "name the database: set DATABASE_URL or --database-url; each npm start brings that of the local system to its release";

/** The number of this stage among several cells. @throws CliError */
function cellIn(text: string | undefined): number | null {
  if (text === undefined || text === "") return null;
  if (/^\d{1,2}$/.test(text) && Number(text) <= 63) return Number(text);
  const rule = `BELFRY_CELL is ${JSON.stringify(text)}; it must be a whole number from 0 to 63`;
  throw wrongUsage("bad-cell", rule);
}

interface MigratedSet extends Migrated {
  /** `belfry`, or the name of an app. */
  readonly name: string;
}

async function migrateAll(
  target: { readonly url: string; readonly isRestored: boolean; readonly cell: number | undefined },
  apps: readonly AppDefinition[],
): Promise<readonly MigratedSet[]> {
  const { url } = target;
  try {
    const sets = [{ name: "belfry", ...(await migrate(target)) }];
    for (const { name, migrations } of apps) {
      if (migrations === null) continue;
      sets.push({ name, ...(await migrate({ url, app: name, folder: fileURLToPath(migrations) })) });
    }
    return sets;
  } catch (error) {
    throw new CliError(exitCodes.failure, "migration-failed", messageOf(error));
  }
}

function lineOf({ name, applied, version, newer, epoch }: MigratedSet): string {
  const done = applied.length === 0 ? "nothing to do" : `applied ${applied.join(", ")}`;
  const what = newer.length === 0 ? done : `${done}; of a newer release: ${newer.join(", ")}`;
  const begun =
    epoch === null
      ? ""
      : `; epoch ${epoch} begins, as the database was restored or moved: readers of its events get a gap notice`;
  return `${name}: version ${version}, ${what}${begun}`;
}
