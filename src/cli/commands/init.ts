import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { CliError, exitCodes } from "../exit.ts";
import type { Output } from "../output.ts";
import type { World } from "../world.ts";

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
        throw new CliError(exitCodes.usage, "bad-name", `the folder's name ${JSON.stringify(id)} ${rule}`);
      }
      if (existsSync(folder) && (!statSync(folder).isDirectory() || readdirSync(folder).length > 0)) {
        throw new CliError(
          exitCodes.conflict,
          "not-empty",
          `${folder} is there already and no empty folder: name another one`,
        );
      }
      const files = filesOf(id, relative(folder, root));
      write(folder, files);
      out.result(
        { folder, files: Object.keys(files) },
        () => `made ${folder}\n\n  cd ${name} && npm install && npm start\n\nThen edit app.ts and save.`,
      );
    });
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  try {
    mkdirSync(folder, { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(exitCodes.failure, "not-writable", `${folder} cannot be written: ${why}`);
  }
}

/** Node sees only this folder's package, so the app names Belfry as a dependency: here the checkout it was made from. */
const filesOf = (id: string, belfry: string): Readonly<Record<string, string>> => ({
  "package.json": `${JSON.stringify(
    {
      name: id,
      private: true,
      type: "module",
      scripts: { start: 'BELFRY_APPS="file://$PWD/index.ts" belfry dev', belfry: "belfry" },
      dependencies: { belfry: `file:${belfry}` },
    },
    null,
    2,
  )}\n`,
  "index.ts": `import app from "./app.ts";\n\nexport default [app];\n`,
  "app.ts": `import { defineApp, defineJob, defineSchedule } from "belfry";

const greet = defineJob({
  id: "${id}-greet",
  run(_, ctx) {
    ctx.log.info("Hello from ${id}!", { try: ctx.attempt });
  },
});

const everyMinute = defineSchedule({ id: "${id}-every-minute", cron: "* * * * *", timezone: "UTC", run: greet });

export default defineApp({ name: "${id}", jobs: [greet], schedules: [everyMinute] });
`,
  ".gitignore": "node_modules/\n.belfry/\n",
});
