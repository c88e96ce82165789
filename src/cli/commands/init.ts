import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import manifest from "../../../package.json" with { type: "json" };
import { scaffold } from "../../scaffold/scaffold.ts";
import { CliError, exitCodes, messageOf, wrongUsage } from "../exit.ts";
import type { Output, World } from "../output.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

export function initCommand(world: World, out: Output): Command {
  return new Command("init")
    .argument("<folder>", "new, or empty")
    .addHelpText("after", "\nExample:\n  $ npx belfry init reports")
    .action((name: string) => {
      const folder = resolve(world.folder, name);
      const id = basename(folder);
      if (!/^[a-z][a-z\d-]{0,40}$/.test(id)) {
        const rule = "must be lower-case letters, digits and dashes, beginning with a letter: it names the app too";
        throw wrongUsage("bad-name", `the folder's name ${JSON.stringify(id)} ${rule}`);
      }
      if (existsSync(folder) && (!statSync(folder).isDirectory() || readdirSync(folder).length > 0)) {
        throw new CliError(exitCodes.conflict, "not-empty", `${folder} exists and is not empty: name another one`);
      }
      // npx says which Node the machine has: this process may be of the package of Node 24, as where nothing says it.
      const node = /\bnode\/v(\d+)/.exec(world.env["npm_config_user_agent"] ?? "");
      const files = scaffold({ name: id, ...versionsFor(folder), bringsNode: Number(node?.[1] ?? 0) < 24 });
      write(folder, files);
      out.result(
        { folder, files: Object.keys(files) },
        () => `made ${folder}\n\n  cd ${name} && npm install && npm start\n\nThen edit jobs/index.ts and save.`,
      );
    });
}

/** Of the package that made it; a checkout is linked, since it is in no registry. */
function versionsFor(folder: string): { version: string; localVersion: string | null } {
  const isCheckout = import.meta.filename.endsWith(".ts");
  if (isCheckout) return { version: `file:${relative(folder, root)}`, localVersion: null };
  return { version: `^${manifest.version}`, localVersion: manifest.version };
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  try {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
  } catch (error) {
    throw new CliError(exitCodes.failure, "not-writable", `${folder} cannot be written: ${messageOf(error)}`);
  }
}
