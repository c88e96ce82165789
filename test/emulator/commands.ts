import { fileURLToPath } from "node:url";
/** Every command of the command line, as a person at a terminal would run it, against the deployed API. */
import type { Command } from "commander";
import { output } from "../../src/cli/output.ts";
import { program } from "../../src/cli/program.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import type { Aws } from "../../src/aws/aws-call.ts";

const stage = "emulator";
/** These make something on this machine or look at it, and those of cells go to databases that a file names. */
const ofCells = ["show", "init", "move", "forget"].map((each) => `cells ${each}`);
const elsewhere = new Set([
  "jobs run",
  "import crontab",
  "import eventbridge",
  "import pg-boss",
  "import graphile-worker",
  "console",
  "mcp",
  "dev",
  "doctor",
  "init",
  "migrate",
  "completion",
  "bundle",
  ...ofCells,
]);
const notFound = 3;

const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
const own = ["--kind", "hello", "--cron", "0 0 1 1 *", "--timezone", "UTC"];

/** `ID` is the first job's, `OTHER` the second's. The number is the exit code where it is not 0. */
const lines: readonly (readonly [command: string, args: string, code?: number])[] = [
  ["jobs list", "--state PENDING,QUEUED"],
  ["jobs show", "ID"],
  ["explain", "ID"],
  ["jobs run-now", "ID"],
  ["jobs show", "ID --wait --timeout 60"],
  ["jobs cancel", "OTHER"],
  ["jobs retry", "OTHER"],
  ["runs list", ""],
  ...["show", "watch", "retry", "cancel", "rerun"].map((each) => [`runs ${each}`, "4711", notFound] as const),
  ["runs signal", "4711 approved", notFound],
  ["schedules list", ""],
  ["schedules show", "hello-every-minute"],
  ["schedules next", "hello-every-minute"],
  ["schedules history", "hello-every-minute"],
  ["schedules explain", `hello-every-minute ${day(0)}`],
  ["schedules preview", "@daily --timezone UTC"],
  ["schedules upcoming", "--hours 1"],
  ["schedules simulate", "--days 1"],
  ["schedules objectives", ""],
  ["costs", "--by key"],
  ["schedules create", "cli OWN"],
  ["schedules update", "cli OWN"],
  ["schedules pause", "cli --yes"],
  ["schedules resume", "cli --yes"],
  ["schedules trigger", "cli"],
  ["schedules backfill", `cli --from ${day(-2)} --to ${day(-1)} --force --dry-run`],
  ["schedules delete", "cli --yes"],
  ["dead-letters list", ""],
  ["dead-letters show", "nothing", notFound],
  ["dead-letters redrive", "--kind hello --dry-run"],
  ["dead-letters stop", "4711", notFound],
  ["lanes list", ""],
  ["lanes pause", "default --yes"],
  ["lanes resume", "default"],
  ["lanes limit", "gone 1", notFound],
  ["lanes limits", ""],
  ["locks", ""],
  ["workers", ""],
  ["events", ""],
  ["kinds", ""],
  ["archive", ""],
  ["check", `--against ${stage}`],
];

/** @throws Error where a command ends otherwise, or where the list above has forgotten one. */
export async function everyCommand(aws: Aws): Promise<string> {
  const ids: Record<string, string> = {};
  for (const name of ["ID", "OTHER"]) {
    const { id } = JSON.parse(await belfry(aws, ["jobs", "enqueue", "hello", "--delay", "1h", "--json"], 0)) as {
      id: string;
    };
    ids[name] = id;
  }
  for (const [command, args, code = 0] of lines) {
    const given = args.split(" ").flatMap((arg) => (arg === "OWN" ? own : arg === "" ? [] : [ids[arg] ?? arg]));
    await belfry(aws, [...command.split(" "), ...given], code);
  }
  const ran = new Set(["jobs enqueue", ...lines.map(([command]) => command)]);
  const forgotten = (await commands()).filter((command) => !ran.has(command) && !elsewhere.has(command));
  if (forgotten.length > 0) throw new Error(`no line runs ${forgotten.join(", ")}`);
  return `${ran.size} commands`;
}

/** @returns what it printed. @throws Error where it ends with another code. */
export async function belfry(aws: Aws, args: readonly string[], wanted: number): Promise<string> {
  let out = "";
  let err = "";
  const streams = { out: (text: string) => (out += text), err: (text: string) => (err += text), isTerminal: false };
  const env = { AWS_REGION: aws.region, ...(aws.endpoint === null ? {} : { AWS_ENDPOINT_URL: aws.endpoint }) };
  const stages = args[0] === "check" ? [] : ["--stage", stage];
  const folder = fileURLToPath(new URL("../../", import.meta.url));
  const code = await runCommandLine([...args, ...stages], { streams, env, folder });
  if (code !== wanted) throw new Error(`belfry ${args.join(" ")} ended with ${code}, not ${wanted}:\n${out}${err}`);
  return out;
}

/** The names of all commands that do something. */
async function commands(): Promise<readonly string[]> {
  const streams = { out: () => "", err: () => "", isTerminal: false };
  const walk = (command: Command, path: readonly string[]): readonly string[] =>
    command.commands.length === 0
      ? [path.join(" ")]
      : command.commands.flatMap((each) => walk(each, [...path, each.name()]));
  return walk(await program({ streams, env: {}, folder: "/" }, output(streams, false)), []);
}
