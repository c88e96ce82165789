import type { Command } from "commander";
import type { RunReply, TaskListReply, TaskReply } from "../../api/shape/run.ts";
import { api } from "../api.ts";
import { followBulk } from "../bulk.ts";
import type { ApiClient } from "../client.ts";
import { exitCodes, Finished } from "../exit.ts";
import { followRun } from "../wait.ts";
import type { Output, World } from "../output.ts";
import { readPayload } from "../query-options.ts";
import { commandOf, groupOf, type MakesCommand, readCommand, tableOf } from "../read-command.ts";

const list = readCommand("listRuns", (out) => ({
  name: "list",
  about: "the newest runs first",
  example: "runs list --state RUNNING,FAILED",
  words: { kind: "the id of the graph or fan-out", parent: "reruns of this run" },
  text: ({ runs }) => (runs.length === 0 ? "no runs" : runTable(runs, out)),
  check: ["exit with 7 when a FAILED run is listed", ({ runs }) => runs.some((run) => run.state === "FAILED")],
}));

/** `DONE with 5 dead letters of 178`: what a run tolerated is said wherever its state is. */
const stateText = ({ state, progress: { failed, total } }: RunReply): string =>
  state === "DONE" && failed > 0 ? `DONE with ${failed} dead letters of ${total}` : state;

function runTable(runs: readonly RunReply[], out: Output): string {
  const columns = {
    ID: (run: RunReply) => run.id,
    KIND: (run: RunReply) => run.kind,
    STATE: stateText,
    DONE: ({ progress }: RunReply) => `${progress.done} of ${progress.total} (${progress.percent} %)`,
    STARTED: (run: RunReply) => out.time(run.createdAt),
    KEY: (run: RunReply) => run.key,
  };
  return tableOf(out, columns, runs);
}

function show(world: World, out: Output): Command {
  return commandOf("show", "one run with its tasks, what failed first", "runs show 7")
    .argument("<id>")
    .option("--check", "exit with 7 when it is FAILED")
    .action(async (id: string, { check }: { check?: boolean }, command: Command) => {
      const client = api(world, command);
      const run = await client.call("getRun", { id });
      const { tasks } = await client.call("listTasks", { id });
      const failedFirst = run.state === "FAILED" ? await firstFailed(client, id) : null;
      out.result({ ...run, tasks, failedFirst }, () => showText(run, tasks, failedFirst, out));
      if (check && run.state === "FAILED") throw new Finished(exitCodes.failedJob);
    });
}

/** Of the failed tasks of the first page; more than that rarely fail. */
async function firstFailed(client: ApiClient, id: string): Promise<TaskReply | null> {
  const { tasks } = await client.call("listTasks", { id, state: "FAILED", limit: "500" });
  const [first = null] = tasks.toSorted((a, b) => (a.finishedAt ?? "").localeCompare(b.finishedAt ?? ""));
  return first;
}

const failedText = (run: RunReply, { task, key, job, error, finishedAt }: TaskReply, out: Output): string =>
  `\nfailed first, at ${out.time(finishedAt)}: ${task ?? key ?? ""}${error === null ? "" : ` with ${error.code}`}, job ${job}\n` +
  `repeat it and what waited for it: belfry runs retry ${run.id}\n`;

function thenText({ then }: RunReply): string {
  if (then === null) return "";
  const when = { end: "when it ends", success: "when it is DONE", failure: "when it is FAILED" }[then.on];
  return `then: ${then.kind}, ${then.job === null ? (then.by === null ? when : `which job ${then.by} writes`) : `job ${then.job}`}\n`;
}

function showText(run: RunReply, tasks: TaskListReply["tasks"], failed: TaskReply | null, out: Output): string {
  // What failed is what a reader looks for.
  const ordered = tasks.toSorted((a, b) => Number(b.state === "FAILED") - Number(a.state === "FAILED"));
  const columns = {
    TASK: ({ task, key }: TaskReply) => task ?? key,
    STATE: ({ state }: TaskReply) => state,
    JOB: ({ job }: TaskReply) => job,
    ERROR: ({ error }: TaskReply) => error?.code ?? "",
  };
  const why = failed === null ? "" : failedText(run, failed, out);
  return `${runTable([run], out)}\n${thenText(run)}${why}\n${tableOf(out, columns, ordered)}`;
}

function watch(world: World, out: Output): Command {
  return commandOf("watch", "follow a run to its end; exit with 7 when it FAILED", "runs watch 7")
    .argument("<id>")
    .action(async (id: string, _: object, command: Command) => {
      const run = await followRun(api(world, command), id, { out });
      out.result(run, () => runTable([run], out));
      if (run.state === "FAILED") throw new Finished(exitCodes.failedJob);
    });
}

const steer =
  (verb: "retry" | "cancel" | "rerun", description: string): MakesCommand =>
  (world, out) =>
    commandOf(verb, description, `runs ${verb} 7`)
      .argument("<id>")
      .action(async (id: string, options: { newest?: true }, command: Command) => {
        const client = api(world, command);
        const answer = await client.call(`${verb}Run`, { id }, options);
        if ("matched" in answer) {
          const bulk = await followBulk(client, out, answer);
          const run = await client.call("getRun", { id });
          return out.result({ run, bulk }, () => runTable([run], out));
        }
        const run = "run" in answer ? answer.run : answer;
        out.result(answer, () => runTable([run], out));
      });

function signal(world: World, out: Output): Command {
  return commandOf(
    "signal",
    "send a run the signal that a task of it waits for",
    `runs signal 7 approved --payload '{"by":"ada"}'`,
  )
    .argument("<id>")
    .argument("<name>", "of the task that waits")
    .option("--payload <json>", "JSON, or - to read it from stdin; left out for a task that asks for none")
    .action(async (id: string, name: string, { payload }: { payload?: string }, command: Command) => {
      const answer = await api(world, command).call("signalRun", { id, name }, await readPayload(payload));
      const text = answer.isFirst ? `run ${id} has the signal ${name}` : `run ${id} had this signal ${name} already`;
      out.result(answer, () => `${text}: job ${answer.job}`);
    });
}

const retry: MakesCommand = (world, out) =>
  steer("retry", "go on from what failed; what succeeded is not repeated")(world, out).option(
    "--newest",
    "by the newest version of its graph, where that fits what has run",
  );

export const runsCommand = groupOf("runs", [
  list,
  show,
  watch,
  retry,
  steer("cancel", "cancel a run and everything of it that is open"),
  steer("rerun", "the whole run again, from its input and by the code of today"),
  signal,
]);
