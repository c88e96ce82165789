import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import pg from "pg";
import { api } from "../api.ts";
import { openApply } from "../apply-waiting.ts";
import { CliError, exitCodes, Finished, messageOf, wrongUsage } from "../exit.ts";
import { type ImportedQueue, importGraphileWorker, importPgBoss } from "../import-queues.ts";
import { type Imported, importCrontab, importEventBridge, moduleOf, nextOf } from "../import-schedules.ts";
import { type Output, printable, type World } from "../output.ts";
import { commandOf } from "../read-command.ts";

const bytesMax = 1_000_000;

/** What another scheduler or queue has, as TypeScript, with next times and what waits there. */
export function importCommand(world: World, out: Output): Command {
  const crontab = commandOf(
    "crontab",
    "schedules of a crontab, as TypeScript",
    "import crontab /etc/crontab --system --out jobs/imported.ts",
  )
    .option("--timezone <zone>", "of lines without CRON_TZ before them", "UTC")
    .option("--system", "each line names a user before its command", false);
  const eventbridge = commandOf(
    "eventbridge",
    "schedules of EventBridge, from an export, as TypeScript",
    "import eventbridge schedules.json",
  );
  const pgBoss = commandOf(
    "pg-boss",
    "jobs that wait in pg-boss, and its schedules",
    "import pg-boss --database postgresql://... --out jobs/imported.ts",
  );
  const graphile = commandOf(
    "graphile-worker",
    "jobs that wait in graphile-worker, and the schedules of its crontab",
    "import graphile-worker --database postgresql://... --crontab crontab --apply",
  ).option("--crontab <file>", "its schedules, which its tables do not keep");
  takeFile(crontab, world, out, (text) => {
    const { timezone, system: hasUsers } = crontab.opts<{ timezone: string; system: boolean }>();
    return importCrontab(text, { timezone, hasUsers });
  });
  takeFile(eventbridge, world, out, importEventBridge);
  takeQueue(pgBoss, world, out, { name: "pg-boss", schema: "pgboss", read: importPgBoss });
  takeQueue(graphile, world, out, {
    name: "graphile-worker",
    schema: "graphile_worker",
    read(client, schema) {
      const { crontab: file } = graphile.opts<{ crontab?: string }>();
      return importGraphileWorker(client, schema, file === undefined ? null : textOf(file, world));
    },
  });
  return [crontab, eventbridge, pgBoss, graphile].reduce(
    (all, each) => all.addCommand(each.option("--out <file>", "where the TypeScript goes; default: stdout")),
    new Command("import"),
  );
}

function takeFile(command: Command, world: World, out: Output, read: (text: string) => Imported): void {
  command.argument("<file>", "what was exported").action((name: string) => {
    const imported = onFile(name, () => read(textOf(name, world)));
    if (imported.schedules.length + imported.refused.length === 0)
      throw wrongUsage("bad-file", `${name}: has no schedules`);
    show(imported, { world, out, target: command.opts<{ out?: string }>().out });
  });
}

interface Queue {
  readonly name: string;
  readonly schema: string;
  readonly read: (client: pg.Client, schema: string) => Promise<ImportedQueue>;
}

function takeQueue(command: Command, world: World, out: Output, { name, schema: usual, read }: Queue): void {
  command
    .requiredOption("--database <url>", "where its tables are; they are only read")
    .option("--schema <name>", "of its tables", usual)
    .option("--apply", "also enqueue what waits, each job once: stop its workers before", false)
    .action(async () => {
      const { database, schema, apply, out: target } = command.opts<QueueOptions>();
      // The value is not shown: it may hold a password.
      if (!/^postgres(ql)?:\/\//.test(database))
        throw wrongUsage("bad-database", "--database must be a postgres:// URL, like postgres://user@host:5432/app");
      const applyTo = apply ? await openApply(api(world, command), out) : null;
      const client = await onDatabase(() =>
        Promise.resolve(new pg.Client({ connectionString: database, application_name: "belfry import" })),
      );
      try {
        await onDatabase(() => client.connect());
        const imported = await onDatabase(() => read(client, client.escapeIdentifier(schema)), {
          name,
          schema,
        });
        const applied = (await applyTo?.(imported)) ?? null;
        for (const { kind, count, firstDueAt } of imported.waiting)
          out.note(printable(`${kind}: ${count} wait, the first due ${firstDueAt}`));
        show(imported, { world, out, target, more: { waiting: imported.waiting, applied } });
        if (applied !== null && applied.failed > 0) throw new Finished(exitCodes.partial);
      } finally {
        await client.end().catch(() => {});
      }
    });
}

interface QueueOptions {
  readonly database: string;
  readonly schema: string;
  readonly apply: boolean;
  readonly out?: string;
}

interface Showing {
  readonly world: World;
  readonly out: Output;
  readonly target: string | undefined;
  readonly more?: object;
}

function show(imported: Imported, { world, out, target, more = {} }: Showing): void {
  const code = moduleOf(imported);
  if (target !== undefined) onFile(target, () => writeFileSync(resolve(world.folder, target), code, { flag: "wx" }));
  const schedules = imported.schedules.map((each) => {
    const { id, was, timezone, notes } = each;
    return { id, was, timezone, notes, next: nextOf(each, Date.now()) };
  });
  for (const { id, next } of schedules) out.note(`${id}: ${next.join(", ") || "has no next time"}`);
  for (const { what, why } of imported.refused) out.note(printable(`left out: ${what}: ${why}`));
  const shown = { schedules, refused: imported.refused, ...more, code };
  out.result(shown, target === undefined ? () => code.trimEnd() : null);
}

/** @throws CliError for a file that cannot be read or is too large. */
function textOf(name: string, { folder }: World): string {
  const text = onFile(name, () => readFileSync(resolve(folder, name), "utf8"));
  if (text.length <= bytesMax) return text;
  throw wrongUsage("too-large", `${name} has more than ${bytesMax} characters: import it in parts`);
}

/** @throws CliError that names the file. */
function onFile<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw wrongUsage("bad-file", `${name}: ${messageOf(error)}`);
  }
}

const undefinedTable = "42P01";

/** @param tables whose they are. @throws CliError with what the server said. */
async function onDatabase<T>(work: () => Promise<T>, tables?: Pick<Queue, "name" | "schema">): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (tables !== undefined && error instanceof pg.DatabaseError && error.code === undefinedTable) {
      const none = `no ${tables.name} tables in schema ${JSON.stringify(tables.schema)}: --schema names another`;
      throw new CliError(exitCodes.failure, "bad-database", none, [messageOf(error)]);
    }
    throw new CliError(exitCodes.failure, "bad-database", `--database: ${messageOf(error)}`);
  }
}
