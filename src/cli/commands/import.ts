import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { CliError, wrongUsage } from "../exit.ts";
import { type Imported, importCrontab, importEventBridge, moduleOf, nextOf } from "../import-schedules.ts";
import { type Output, printable, type World } from "../output.ts";
import { commandOf } from "../read-command.ts";

const bytesMax = 1_000_000;

/** `crontab` and `eventbridge`: the schedules of another scheduler as TypeScript, with their next times. */
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
  takeFile(crontab, world, out, (text) => {
    const { timezone, system } = crontab.opts<{ timezone: string; system: boolean }>();
    return importCrontab(text, { timezone, hasUsers: system });
  });
  takeFile(eventbridge, world, out, importEventBridge);
  return new Command("import").addCommand(crontab).addCommand(eventbridge);
}

function takeFile(command: Command, world: World, out: Output, read: (text: string) => Imported): void {
  command
    .argument("<file>", "what was exported")
    .option("--out <file>", "where the TypeScript goes; default: stdout")
    .action((name: string) => {
      const { out: target } = command.opts<{ out?: string }>();
      const text = onFile(name, () => readFileSync(resolve(world.folder, name), "utf8"));
      if (text.length > bytesMax)
        throw wrongUsage("too-large", `${name} has more than ${bytesMax} characters: import it in parts`);
      const imported = onFile(name, () => read(text));
      if (imported.schedules.length + imported.refused.length === 0)
        throw wrongUsage("bad-file", `${name}: has no schedules`);
      const code = moduleOf(imported);
      if (target !== undefined)
        onFile(target, () => writeFileSync(resolve(world.folder, target), code, { flag: "wx" }));
      const schedules = imported.schedules.map((each) => ({
        id: each.id,
        was: each.was,
        timezone: each.timezone,
        notes: each.notes,
        next: nextOf(each, Date.now()),
      }));
      for (const { id, next } of schedules) out.note(`${id}: ${next.join(", ") || "has no next time"}`);
      for (const { what, why } of imported.refused) out.note(printable(`left out: ${what}: ${why}`));
      const shown = { schedules, refused: imported.refused, code };
      out.result(shown, target === undefined ? () => code.trimEnd() : null);
    });
}

/** @throws CliError that names the file. */
function onFile<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw wrongUsage("bad-file", `${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
