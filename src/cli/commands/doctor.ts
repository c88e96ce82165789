import { Command } from "commander";
import { findSystem, isAlive } from "../address.ts";
import { apiClient } from "../client.ts";
import type { Finding } from "../finding.ts";
import { exitCodes, Finished } from "../exit.ts";
import type { Output } from "../output.ts";
import type { World } from "../world.ts";

export function doctorCommand(world: World, out: Output): Command {
  return new Command("doctor")
    .requiredOption("--local", "this machine's system (the only one there is so far)")
    .addHelpText("after", "\nExample:\n  $ npx belfry doctor --local")
    .action(async (_: object, command: Command) => {
      const { url } = command.optsWithGlobals<{ url?: string }>();
      const findings = await examine(url, world);
      const ok = findings.every((finding) => finding.ok);
      out.result({ ok, findings }, () => findings.map(lineOf).join("\n"));
      if (!ok) throw new Finished(exitCodes.failure);
    });
}

const lineOf = ({ name, ok, detail, fix }: Finding): string =>
  `${ok ? "ok   " : "wrong"} ${name}: ${detail}${fix === undefined ? "" : `\n      ${fix}`}`;

async function examine(url: string | undefined, world: World): Promise<readonly Finding[]> {
  const system = findSystem(world.env, world.folder);
  const api = url ?? world.env["BELFRY_URL"] ?? system?.api;
  return [
    nodeFinding(),
    ...(api === undefined || api === system?.api ? [systemFinding(system)] : []),
    ...(api === undefined || api === null ? [] : [await apiFinding(api)]),
    ...(await (await import("../database.ts")).databaseFindings(world.env["DATABASE_URL"])),
  ];
}

function nodeFinding(): Finding {
  const ok = Number(process.versions.node.split(".")[0]) === 24;
  const fix = "use the npm scripts or npx, which take the Node that npm ci installed";
  return { name: "node", ok, detail: `${process.version} at ${process.execPath}`, ...(ok ? {} : { fix }) };
}

function systemFinding(system: ReturnType<typeof findSystem>): Finding {
  const name = "system";
  if (system === null) {
    return { name, ok: false, detail: "no .belfry/system.json from this folder upwards", fix: "start it: npm start" };
  }
  if (isAlive(system.pid)) return { name, ok: true, detail: `process ${system.pid}, ${system.api ?? "starting"}` };
  const fix = "it ended without cleaning up, which loses nothing; start it again: npm start";
  return { name, ok: false, detail: `process ${system.pid} of ${system.file} is gone`, fix };
}

async function apiFinding(url: string): Promise<Finding> {
  try {
    const { version, schemaVersion, counts } = await apiClient(url).health();
    const jobs = Object.entries(counts).flatMap(([state, { count, isMore }]) =>
      count > 0 ? [`${isMore ? "at least " : ""}${count} ${state}`] : [],
    );
    const detail = `${url}, version ${version}, schema ${schemaVersion ?? "unknown"}, jobs: ${jobs.join(", ") || "none"}`;
    return { name: "api", ok: true, detail };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { name: "api", ok: false, detail, fix: "start the system (npm start), or correct --url or BELFRY_URL" };
  }
}
