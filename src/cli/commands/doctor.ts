import { Command } from "commander";
import { secondMs } from "../../machine/units.ts";
import { findSystem, isAlive } from "../address.ts";
import { awsEnvironment, deployedStage } from "../api.ts";
import { apiClient, type ReplyOf } from "../client.ts";
import { regionOfStage } from "../deployed.ts";
import { exitCodes, Finished, messageOf, wrongUsage } from "../exit.ts";
import { awsAt, awsIn } from "../../aws/aws-call.ts";
import type { Output, World } from "../output.ts";
import { callerAccount, type Finding, preflight } from "../preflight.ts";
import { projectOf, stageIn } from "../project.ts";
import { commandOf } from "../read-command.ts";

export function doctorCommand(world: World, out: Output): Command {
  return commandOf(
    "doctor",
    "look at each part of a system and say what to do about what is wrong",
    "doctor\n  $ AWS_REGION=eu-west-1 npx belfry doctor --stage small",
  )
    .option("--local", "this machine's system (default without --stage, BELFRY_URL and BELFRY_STAGE)")
    .option("--stage <name>", "the account that this stage is deployed to, before and after a deployment")
    .action(async (_: object, command: Command) => {
      const {
        url,
        stage,
        local = false,
      } = command.optsWithGlobals<{ url?: string; stage?: string; local?: boolean }>();
      if (local && stage !== undefined) throw wrongUsage("two-systems", "say which system: --local, or --stage NAME");
      const deployed = local ? null : deployedStage(world, command);
      const findings =
        deployed === null
          ? await examine(url, world)
          : await examineAccount(deployed, { ...world, env: awsEnvironment(world, command) });
      const ok = findings.every((finding) => finding.ok);
      out.result({ ok, findings }, () => findings.map(lineOf).join("\n"));
      if (!ok) throw new Finished(exitCodes.failure);
    });
}

const lineOf = ({ name, ok, detail, fix }: Finding): string =>
  `${ok ? (fix === undefined ? "ok   " : "warns") : "wrong"} ${name}: ${detail}${fix === undefined ? "" : `\n      ${fix}`}`;

async function examineAccount(name: string, world: World): Promise<readonly Finding[]> {
  const { env } = world;
  const project = await projectOf(world);
  const stage = stageIn(project, name).name;
  const region = await regionOfStage(stage, env);
  const endpoint = env["AWS_ENDPOINT_URL"];
  const reach = (account: string) => (endpoint ? awsAt(endpoint, region, account) : awsIn(region, account));
  try {
    const account = await callerAccount(reach(""));
    return [
      { name: "account", ok: true, detail: `${account}, ${region}` },
      ...(await preflight(reach(account), project, stage)),
    ];
  } catch (error) {
    const detail = `none answers to these credentials: ${messageOf(error)}`;
    return [{ name: "account", ok: false, detail, fix: "sign in (aws sso login), or set AWS_PROFILE" }];
  }
}

async function examine(url: string | undefined, world: World): Promise<readonly Finding[]> {
  const system = findSystem(world.env, world.folder);
  const api = url ?? world.env["BELFRY_URL"] ?? system?.api;
  const isLocal = api === undefined || api === system?.api;
  const local = isLocal && system !== null && isAlive(system.pid) ? system.env["DATABASE_URL"] : undefined;
  const { databaseFindings } = await import("../database.ts");
  return [
    nodeFinding(),
    ...(isLocal ? [systemFinding(system)] : []),
    ...(api === undefined || api === null ? [] : await apiFindings(api)),
    ...(await databaseFindings({ named: world.env["DATABASE_URL"], local })),
  ];
}

function nodeFinding(): Finding {
  const ok = Number(process.versions.node.split(".")[0]) >= 24;
  const fix = `npm install --save-optional node-${process.platform}-${process.arch}@24, which npm's scripts and npx then use`;
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

async function apiFindings(url: string): Promise<readonly Finding[]> {
  try {
    const { version, schemaVersion, counts, lastPass } = await apiClient(url).call("getHealth");
    const jobs = Object.entries(counts).flatMap(([state, { count, isMore }]) =>
      count > 0 ? [`${isMore ? "at least " : ""}${count} ${state}`] : [],
    );
    const detail = `${url}, version ${version}, schema ${schemaVersion ?? "unknown"}, jobs: ${jobs.join(", ") || "none"}`;
    return [{ name: "api", ok: true, detail }, passFinding(lastPass)];
  } catch (error) {
    const fix = "start the system (npm start), or correct --url or BELFRY_URL";
    return [{ name: "api", ok: false, detail: messageOf(error), fix }];
  }
}

function passFinding(pass: ReplyOf<"getHealth">["lastPass"]): Finding {
  const name = "scheduler";
  const fix = "see what the scheduler waits for: npx belfry locks, and the log of its last task";
  // A new system is not wrong; one that stays like this rings the alarm of a silent scheduler.
  if (pass === null) return { name, ok: true, detail: "no pass was made yet; the first comes within a minute" };
  const detail = `its last pass was ${Math.round(pass.ageMs / secondMs)} s ago`;
  return pass.isLate ? { name, ok: false, detail, fix } : { name, ok: true, detail };
}
