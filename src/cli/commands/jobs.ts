import type { Command } from "commander";
import { api } from "../api.ts";
import type { JobDetailReply, JobListReply, JobReply } from "../../api/shape/job.ts";
import { each, followBulk } from "../bulk.ts";
import { findSystem } from "../address.ts";
import { CliError, exitCodes, Finished, wrongUsage } from "../exit.ts";
import { shownCsv, printable, type Output, type Streams, type World } from "../output.ts";
import { columnNames, jobTable, jobText, timeIn, usualColumns } from "../text.ts";
import {
  membersOf,
  type PayloadOptions,
  queryIn,
  readPayload,
  withPayload,
  withQuery,
  type Values,
} from "../query-options.ts";
import { showEnd, waitForEnd, type WaitOptions, withWait } from "../wait.ts";
import { setTimeout as wait } from "node:timers/promises";
import { parseDuration } from "../../calendar/duration.ts";
import { type ApiClient, pagesOf } from "../client.ts";
import { commandOf, groupOf, type MakesCommand } from "../read-command.ts";

/** For a debugger: `node --inspect-brk node_modules/.bin/belfry jobs run 42 --local`. */
function run(world: World, out: Output): Command {
  const example = "jobs run 42 --local";
  return commandOf("run", "one attempt of a job that waits, in this process: for a debugger", example)
    .argument("<id>")
    .requiredOption("--local", "of the local system that runs; there is no other")
    .action(async (id: string, _: object, command: Command) => {
      if (command.optsWithGlobals<{ stage?: string }>().stage !== undefined)
        throw wrongUsage("no-stage", "jobs run --local is of the local system: leave out --stage");
      const client = api(world, command);
      const { kind, lane, state } = await client.call("getJob", { id });
      const env = findSystem(world.env, world.folder)?.env ?? {};
      const note = (text: string): void => out.note(printable(text));
      const { runHere } = await import("../../compose/run-job.ts");
      if (!waiting.has(state) || !(await runHere({ id, kind, lane, env, note }))) {
        const { sentence, advice } = await client.call("explainJob", { id });
        throw new CliError(exitCodes.conflict, "not-run", sentence, advice === null ? [] : [advice]);
      }
      const job = await client.call("getJob", { id });
      out.result(job, () => jobText(job, out));
      if ((job.attempts.at(-1)?.error ?? null) !== null) throw new Finished(exitCodes.failedJob);
    });
}

const waiting: ReadonlySet<string> = new Set(["PENDING", "QUEUED", "RETRY_WAIT"]);

function show(world: World, out: Output): Command {
  return withWait(commandOf("show", "one job with its attempts and events", "jobs show 42 --wait"))
    .argument("<id>")
    .option("--check", "exit with 7 when it is FAILED")
    .action(async (id: string, options: WaitOptions & { check?: boolean }, command: Command) => {
      const client = api(world, command);
      const job = options.wait ? await waitForEnd(client, id, options.timeout) : await client.call("getJob", { id });
      out.result(job, () => jobText(job, out));
      failIfFailed(job, options.wait === true || options.check === true);
    });
}

function enqueue(world: World, out: Output): Command {
  return withWait(
    commandOf(
      "enqueue",
      "write a job; with a key, at most once",
      `jobs enqueue send-mail '{"to":"ada@example.org"}' --key welcome-ada --wait`,
    ),
  )
    .argument("<kind>", "the id of the definition")
    .argument("[payload]", "JSON, or - to read it from stdin; left out for a job that takes none")
    .option("--key <key>", "a second job of the same kind and key is not made")
    .option("--delay <duration>", "like 30s, 10m or 2h")
    .option("--due-at <time>", "with its offset: 2026-12-31T09:00:00+09:00")
    .action(async (kind: string, payload: string | undefined, options, command: Command) => {
      const { key, delay, dueAt, wait, timeout } = options as WaitOptions & {
        key?: string;
        delay?: string;
        dueAt?: string;
      };
      const client = api(world, command);
      const body = { kind, ...(await readPayload(payload)), key, delay, dueAt };
      const { created, notes, ...written } = await client.call("createJob", {}, body);
      if (!created && written.joined === null) out.note(`job ${written.id} has this key already; nothing was written`);
      if (written.joined !== null) out.note(`job ${written.id} is debounced: calls that joined it: ${written.joined}`);
      for (const note of notes) out.note(note);
      if (wait) return await showEnd(client, { id: written.id, created }, { timeout, out });
      out.result({ created, ...written }, () => jobText(written, out));
    });
}

function failIfFailed(job: JobDetailReply, matters: boolean): void {
  if (matters && job.state === "FAILED") throw new Finished(exitCodes.failedJob);
}

const steer =
  (name: string, operation: "retryJob" | "cancelJob" | "runJobNow", about: string): MakesCommand =>
  (world, out) =>
    commandOf(name, about, `jobs ${name} 42 43`)
      .argument("<id...>")
      .action(async (ids: string[], _: object, command: Command) => {
        const client = api(world, command);
        const steered = async (id: string): Promise<JobReply> => {
          const answer = await client.call(operation, { id });
          if (!("matched" in answer)) return answer;
          await followBulk(client, out, answer);
          return await client.call("getJob", { id });
        };
        await each(ids, out, steered, (jobs) => ({
          value: { jobs },
          text: () => out.table(...jobTable(jobs, usualColumns, out.time)),
        }));
      });

interface ListOptions extends PayloadOptions {
  readonly since?: string;
  readonly columns?: string;
  readonly tz?: string;
  readonly csv?: boolean;
  readonly check?: boolean;
  readonly all?: boolean;
  readonly watch?: boolean;
  readonly [filter: string]: unknown;
}

const lookMs = 2_000;
/** A list of more is for a query of the database. */
const pagesMax = 200;
const clearScreen = "\u001b[2J\u001b[H";

function list(world: World, out: Output): Command {
  return withPayload(
    withQuery(
      commandOf("list", "the newest jobs first", "jobs list --kind outbox-retry --state FAILED,RETRY_WAIT"),
      "listJobs",
    ),
  )
    .option("--since <duration>", "due no longer ago than this, like 30m or 2h")
    .option("--all", "every page")
    .option("--columns <names>", columnNames.join(","), usualColumns.join(","))
    .option("--tz <zone>", "times by the clock of this zone")
    .option("--csv", "for a spreadsheet, instead of the table")
    .option("--watch", "again every two seconds until Ctrl-C")
    .option("--check", "exit with 7 when a FAILED job is listed")
    .action(async (options: ListOptions, command: Command) => {
      const client = api(world, command);
      do {
        const page = await read(client, options);
        if (options.watch === true && world.streams.isTerminal) world.streams.out(clearScreen);
        out.result(page, () => listText(page, options, world.streams, out));
        if (page.nextCursor !== null) out.note(`more: --cursor ${page.nextCursor}, or --all`);
        else if (!page.complete)
          out.note("not all: more is out, held or waits for tasks than a list by due time looks at");
        const isFound = page.jobs.some((job) => job.state === "FAILED");
        if (options.check === true && isFound) throw new Finished(exitCodes.failedJob);
        if (options.watch === true) await wait(lookMs);
      } while (options.watch === true);
    });
}

async function read(client: ApiClient, options: ListOptions): Promise<JobListReply> {
  const query = { ...queryIn("listJobs", options), ...sinceOf(options), ...membersOf(options, "payload.") };
  if (options.all !== true) return await client.call("listJobs", query);
  const { pages, last } = await pagesOf((page) => client.call("listJobs", { ...query, ...page }), pagesMax);
  return { ...last, jobs: pages.flatMap(({ jobs }) => jobs) };
}

function sinceOf({ since }: ListOptions): Values {
  if (since === undefined) return {};
  const ms = parseDuration(since);
  if (ms !== null) return { dueFrom: new Date(Date.now() - ms).toISOString() };
  const rule = `--since is ${JSON.stringify(since)}: write it like 30m, 2h or 1d`;
  throw wrongUsage("bad-duration", rule);
}

function listText(page: JobListReply, options: ListOptions, streams: Streams, out: Output): string {
  const asCsv = options.csv === true;
  if (page.jobs.length === 0 && !asCsv) return "no jobs";
  const names = options.columns?.toLowerCase().split(",") ?? usualColumns;
  const iso: Output["time"] = (instant) => instant ?? "";
  const time = options.tz === undefined ? (asCsv ? iso : out.time) : timeIn(options.tz);
  const listed = jobTable(page.jobs, names, time);
  return asCsv ? shownCsv(listed, streams) : out.table(...listed);
}

export const jobsCommand = groupOf("jobs", [
  list,
  show,
  enqueue,
  steer("retry", "retryJob", "run FAILED, CANCELED or SKIPPED jobs again: same id, key and history"),
  steer("cancel", "cancelJob", "cancel jobs that have not finished"),
  steer("run-now", "runJobNow", "do not wait for the due time"),
  run,
]);
