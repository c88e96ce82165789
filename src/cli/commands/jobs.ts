import { Command, InvalidArgumentError } from "commander";
import { api } from "../api.ts";
import type { Job, JobDetail } from "../client.ts";
import { each } from "../each.ts";
import { exitCodes, Finished } from "../exit.ts";
import type { Output } from "../output.ts";
import { csv, table } from "../output.ts";
import type { World } from "../world.ts";
import { jobText } from "../text.ts";
import { readPayload } from "../payload.ts";
import { waitForEnd } from "../wait.ts";

interface WaitOptions {
  readonly wait?: boolean;
  readonly timeout: number;
}

export function jobsCommand(world: World, out: Output): Command {
  const jobs = new Command("jobs").description("write, look at and steer jobs");
  jobs.addCommand(list(world, out));
  jobs.addCommand(show(world, out));
  jobs.addCommand(enqueue(world, out));
  jobs.addCommand(steer(world, out, "retry", "run FAILED, CANCELED or SKIPPED jobs again: same id, key and history"));
  jobs.addCommand(steer(world, out, "cancel", "cancel jobs that have not finished"));
  jobs.addCommand(steer(world, out, "runNow", "do not wait for the due time"));
  return jobs;
}

function list(world: World, out: Output): Command {
  return new Command("list")
    .description("the newest jobs first")
    .option("--state <states>", "one or more, like FAILED or PENDING,QUEUED")
    .option("--kind <kind>", "the id of the definition")
    .option("--lane <lane>")
    .option("--key <key>")
    .option("--error <code>", "the code of its error")
    .option("--sort <order>", "newest, oldest or due")
    .option("--limit <count>", "1 to 500", "50")
    .option("--cursor <cursor>", "the nextCursor of the page before")
    .option("--csv", "for a spreadsheet, instead of the table")
    .option("--check", "exit with 7 when a FAILED job is listed")
    .addHelpText("after", "\nExample:\n  $ npx belfry jobs list --kind outbox-retry --state FAILED,RETRY_WAIT")
    .action(async (options: Record<string, string> & { check?: boolean; csv?: boolean }, command: Command) => {
      const { check, csv: asCsv, ...query } = options;
      const page = await api(world, command).jobs(query);
      out.result(page, () => (asCsv ? csv(head, rowsOf(page.jobs)) : listText(page.jobs, world.streams.isTerminal)));
      if (page.nextCursor !== null) out.note(`more: --cursor ${page.nextCursor}`);
      if (check && page.jobs.some((job) => job.state === "FAILED")) throw new Finished(exitCodes.failedJob);
    });
}

const head = ["ID", "KIND", "STATE", "PHASE", "FAILURES", "KEY", "ERROR"];

const listText = (jobs: readonly Job[], isTerminal: boolean): string =>
  jobs.length === 0 ? "no jobs" : table(head, rowsOf(jobs), isTerminal);

const rowsOf = (jobs: readonly Job[]): readonly (readonly string[])[] =>
  jobs.map((job) => [job.id, job.kind, job.state, job.phase, tries(job), job.key ?? "", job.error?.code ?? ""]);

const tries = (job: Job): string => `${job.failures} of ${job.maxAttempts}`;

function show(world: World, out: Output): Command {
  return waiting(new Command("show"))
    .description("one job with its attempts and events")
    .argument("<id>")
    .option("--check", "exit with 7 when it is FAILED")
    .addHelpText("after", "\nExample:\n  $ npx belfry jobs show 42 --wait")
    .action(async (id: string, options: WaitOptions & { check?: boolean }, command: Command) => {
      const client = api(world, command);
      const job = options.wait ? await waitForEnd(client, id, options.timeout) : await client.job(id);
      out.result(job, () => jobText(job, world.streams.isTerminal));
      failIfFailed(job, options.wait === true || options.check === true);
    });
}

function enqueue(world: World, out: Output): Command {
  return waiting(new Command("enqueue"))
    .description("write a job; with a key, at most once")
    .argument("<kind>", "the id of the definition")
    .argument("[payload]", "JSON, or - to read it from stdin; left out for a job that takes none")
    .option("--key <key>", "a second job of the same kind and key is not made")
    .option("--delay <duration>", "like 30s, 10m or 2h")
    .option("--due-at <time>", "with its offset: 2026-12-31T09:00:00+09:00")
    .addHelpText(
      "after",
      `\nExample:\n  $ npx belfry jobs enqueue send-mail '{"to":"ada@example.org"}' --key welcome-ada --wait`,
    )
    .action(async (kind: string, payload: string | undefined, options, command: Command) => {
      const { key, delay, dueAt, wait, timeout } = options as WaitOptions & {
        key?: string;
        delay?: string;
        dueAt?: string;
      };
      const client = api(world, command);
      const body = { kind, ...(await readPayload(payload)), key, delay, dueAt };
      const { created, ...written } = await client.enqueue(body);
      if (!created) out.note(`job ${written.id} has this key already; nothing was written`);
      const job = wait ? await waitForEnd(client, written.id, timeout) : written;
      out.result({ created, ...job }, () => jobText(job, world.streams.isTerminal));
      failIfFailed(job, wait === true);
    });
}

const waiting = (command: Command): Command =>
  command
    .option("--wait", "until it has ended; exit with 7 when it FAILED")
    .option("--timeout <seconds>", "how long --wait waits", seconds, 60);

function seconds(text: string): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) === 0) throw new InvalidArgumentError("write whole seconds, 1 or more.");
  return Number(text);
}

function failIfFailed(job: JobDetail, matters: boolean): void {
  if (matters && job.state === "FAILED") throw new Finished(exitCodes.failedJob);
}

function steer(world: World, out: Output, verb: "retry" | "cancel" | "runNow", description: string): Command {
  const name = verb === "runNow" ? "run-now" : verb;
  return new Command(name)
    .description(description)
    .argument("<id...>")
    .addHelpText("after", `\nExample:\n  $ npx belfry jobs ${name} 42 43`)
    .action(async (ids: string[], _: object, command: Command) => {
      const client = api(world, command);
      await each<Job>(ids, out, client[verb], (jobs) => ({
        value: { jobs },
        text: () => listText(jobs, world.streams.isTerminal),
      }));
    });
}
