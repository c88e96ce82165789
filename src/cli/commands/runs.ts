import { setTimeout as wait } from "node:timers/promises";
import { Command } from "commander";
import { api } from "../api.ts";
import { type ApiClient, part } from "../client.ts";
import { exitCodes, Finished } from "../exit.ts";
import { type Output, table } from "../output.ts";
import type { World } from "../world.ts";

interface Run {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly state: string;
  readonly progress: {
    readonly total: number;
    readonly running: number;
    readonly done: number;
    readonly failed: number;
    readonly percent: number;
  };
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

interface Tasks {
  readonly tasks: readonly {
    readonly job: string;
    readonly task: string | null;
    readonly key: string | null;
    readonly state: string;
    readonly error: { readonly code: string } | null;
  }[];
}

const ended = new Set(["DONE", "FAILED", "CANCELED"]);
const lookMs = 500;

export function runsCommand(world: World, out: Output): Command {
  const runs = new Command("runs").description("look at and steer runs: jobs that belong together");
  runs.addCommand(list(world, out));
  runs.addCommand(show(world, out));
  runs.addCommand(watch(world, out));
  for (const [verb, description] of Object.entries(verbs)) runs.addCommand(steer(world, out, verb, description));
  return runs;
}

const verbs = {
  retry: "go on from what failed; what succeeded is not repeated",
  cancel: "cancel a run and everything of it that is open",
  rerun: "the whole run again, from its input and by the code of today",
};

function list(world: World, out: Output): Command {
  return new Command("list")
    .description("the newest runs first")
    .option("--kind <kind>", "the id of the graph or fan-out")
    .option("--key <key>")
    .option("--state <states>", "one or more, like RUNNING,FAILED")
    .option("--limit <count>", "1 to 500", "50")
    .option("--cursor <cursor>", "the nextCursor of the page before")
    .option("--check", "exit with 7 when a FAILED run is listed")
    .addHelpText("after", "\nExample:\n  $ npx belfry runs list --state RUNNING,FAILED")
    .action(async ({ check, ...query }: Record<string, string> & { check?: boolean }, command: Command) => {
      const page = await api(world, command).get<{ runs: readonly Run[]; nextCursor: string | null }>("/runs", query);
      out.result(page, () => (page.runs.length === 0 ? "no runs" : listText(page.runs, world.streams.isTerminal)));
      if (page.nextCursor !== null) out.note(`more: --cursor ${page.nextCursor}`);
      if (check && page.runs.some((run) => run.state === "FAILED")) throw new Finished(exitCodes.failedJob);
    });
}

const listText = (runs: readonly Run[], isTerminal: boolean): string =>
  table(["ID", "KIND", "KEY", "STATE", "DONE", "STARTED"], runs.map(row), isTerminal);

const row = ({ id, kind, key, state, progress, createdAt }: Run): readonly string[] => [
  id,
  kind,
  key,
  state,
  `${progress.done} of ${progress.total} (${progress.percent} %)`,
  createdAt,
];

function show(world: World, out: Output): Command {
  return new Command("show")
    .description("one run with its tasks")
    .argument("<id>")
    .option("--check", "exit with 7 when it is FAILED")
    .addHelpText("after", "\nExample:\n  $ npx belfry runs show 7")
    .action(async (id: string, { check }: { check?: boolean }, command: Command) => {
      const client = api(world, command);
      const run = await client.get<Run>(`/runs/${part(id)}`);
      const { tasks } = await client.get<Tasks>(`/runs/${part(id)}/tasks`);
      out.result({ ...run, tasks }, () => showText(run, tasks, world.streams.isTerminal));
      if (check && run.state === "FAILED") throw new Finished(exitCodes.failedJob);
    });
}

function showText(run: Run, tasks: Tasks["tasks"], isTerminal: boolean): string {
  const rows = tasks.map((each) => [each.task ?? each.key ?? "", each.state, each.job, each.error?.code ?? ""]);
  return `${listText([run], isTerminal)}\n\n${table(["TASK", "STATE", "JOB", "ERROR"], rows, isTerminal)}`;
}

function watch(world: World, out: Output): Command {
  return new Command("watch")
    .description("follow a run to its end; exit with 7 when it FAILED")
    .argument("<id>")
    .addHelpText("after", "\nExample:\n  $ npx belfry runs watch 7")
    .action(async (id: string, _: object, command: Command) => {
      const run = await follow(api(world, command), id, out);
      out.result(run, () => listText([run], world.streams.isTerminal));
      if (run.state === "FAILED") throw new Finished(exitCodes.failedJob);
    });
}

async function follow(client: ApiClient, id: string, out: Output): Promise<Run> {
  let told = "";
  for (;;) {
    const run = await client.get<Run>(`/runs/${part(id)}`);
    if (ended.has(run.state)) return run;
    const { done, total, running, failed, percent } = run.progress;
    const line = `${run.state}: ${done} of ${total} done (${percent} %), ${running} running, ${failed} failed`;
    if (line !== told) out.note(line);
    told = line;
    await wait(lookMs);
  }
}

function steer(world: World, out: Output, verb: string, description: string): Command {
  return new Command(verb)
    .description(description)
    .argument("<id>")
    .addHelpText("after", `\nExample:\n  $ npx belfry runs ${verb} 7`)
    .action(async (id: string, _: object, command: Command) => {
      const answer = await api(world, command).post<Run | { readonly run: Run }>(`/runs/${part(id)}/${verb}`);
      const run = "run" in answer ? answer.run : answer;
      out.result(answer, () => listText([run], world.streams.isTerminal));
    });
}
