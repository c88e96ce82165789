import { Command } from "commander";
import type { BulkReply } from "../../api/shape/bulk.ts";
import type { RunListReply, RunReply, TaskListReply, TaskReply } from "../../api/shape/run.ts";
import { api } from "../api.ts";
import { followed } from "../bulk.ts";
import { followRun } from "../follow-run.ts";
import { type ApiClient, part } from "../client.ts";
import { exitCodes, Finished } from "../exit.ts";
import type { Output } from "../output.ts";
import type { World } from "../world.ts";

export function runsCommand(world: World, out: Output): Command {
  const runs = new Command("runs");
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
      const page = await api(world, command).get<RunListReply>("/runs", query);
      out.result(page, () => (page.runs.length === 0 ? "no runs" : listText(page.runs, out)));
      if (page.nextCursor !== null) out.note(`more: --cursor ${page.nextCursor}`);
      if (check && page.runs.some((run) => run.state === "FAILED")) throw new Finished(exitCodes.failedJob);
    });
}

const listText = (runs: readonly RunReply[], out: Output): string =>
  out.table(
    ["ID", "KIND", "STATE", "DONE", "STARTED", "KEY"],
    runs.map((run) => row(run, out)),
  );

const row = ({ id, kind, key, state, progress, createdAt }: RunReply, out: Output): readonly string[] => [
  id,
  kind,
  state,
  `${progress.done} of ${progress.total} (${progress.percent} %)`,
  out.time(createdAt),
  key,
];

function show(world: World, out: Output): Command {
  return new Command("show")
    .description("one run with its tasks, what failed first")
    .argument("<id>")
    .option("--check", "exit with 7 when it is FAILED")
    .addHelpText("after", "\nExample:\n  $ npx belfry runs show 7")
    .action(async (id: string, { check }: { check?: boolean }, command: Command) => {
      const client = api(world, command);
      const run = await client.get<RunReply>(`/runs/${part(id)}`);
      const { tasks } = await client.get<TaskListReply>(`/runs/${part(id)}/tasks`);
      const failedFirst = run.state === "FAILED" ? await firstFailed(client, id) : null;
      out.result({ ...run, tasks, failedFirst }, () => showText(run, tasks, failedFirst, out));
      if (check && run.state === "FAILED") throw new Finished(exitCodes.failedJob);
    });
}

/** Of the failed tasks of the first page; more than that rarely fail. */
async function firstFailed(client: ApiClient, id: string): Promise<TaskReply | null> {
  const { tasks } = await client.get<TaskListReply>(`/runs/${part(id)}/tasks`, { state: "FAILED", limit: "500" });
  const [first = null] = tasks.toSorted((a, b) => (a.finishedAt ?? "").localeCompare(b.finishedAt ?? ""));
  return first;
}

const failedText = (run: RunReply, { task, key, job, error, finishedAt }: TaskReply, out: Output): string =>
  `\nfailed first, at ${out.time(finishedAt)}: ${task ?? key ?? ""}${error === null ? "" : ` with ${error.code}`}, job ${job}\n` +
  `repeat it and what waited for it: belfry runs retry ${run.id}\n`;

function showText(run: RunReply, tasks: TaskListReply["tasks"], failed: TaskReply | null, out: Output): string {
  // What failed is what a reader looks for.
  const ordered = tasks.toSorted((a, b) => Number(b.state === "FAILED") - Number(a.state === "FAILED"));
  const rows = ordered.map((each) => [each.task ?? each.key ?? "", each.state, each.job, each.error?.code ?? ""]);
  const why = failed === null ? "" : failedText(run, failed, out);
  return `${listText([run], out)}\n${why}\n${out.table(["TASK", "STATE", "JOB", "ERROR"], rows)}`;
}

function watch(world: World, out: Output): Command {
  return new Command("watch")
    .description("follow a run to its end; exit with 7 when it FAILED")
    .argument("<id>")
    .addHelpText("after", "\nExample:\n  $ npx belfry runs watch 7")
    .action(async (id: string, _: object, command: Command) => {
      const run = await followRun(api(world, command), id, out);
      out.result(run, () => listText([run], out));
      if (run.state === "FAILED") throw new Finished(exitCodes.failedJob);
    });
}

function steer(world: World, out: Output, verb: string, description: string): Command {
  return new Command(verb)
    .description(description)
    .argument("<id>")
    .addHelpText("after", `\nExample:\n  $ npx belfry runs ${verb} 7`)
    .action(async (id: string, _: object, command: Command) => {
      const client = api(world, command);
      const answer = await client.post<RunReply | { readonly run: RunReply } | BulkReply>(`/runs/${part(id)}/${verb}`);
      if ("matched" in answer) {
        const bulk = await followed(client, out, answer);
        const run = await client.get<RunReply>(`/runs/${part(id)}`);
        return out.result({ run, bulk }, () => listText([run], out));
      }
      const run = "run" in answer ? answer.run : answer;
      out.result(answer, () => listText([run], out));
    });
}
