import { setTimeout as wait } from "node:timers/promises";
import { Command } from "commander";
import type { JobListReply } from "../../api/shape/job.ts";
import { api } from "../api.ts";
import type { ApiClient } from "../client.ts";
import { CliError, exitCodes, Finished } from "../exit.ts";
import { columnNames, jobTable, timeIn, usualColumns } from "../job-columns.ts";
import { csv, type Output, type Streams } from "../output.ts";
import type { World } from "../world.ts";

interface ListOptions {
  readonly payload?: readonly string[];
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

export function jobsListCommand(world: World, out: Output): Command {
  return new Command("list")
    .description("the newest jobs first")
    .option("--state <states>", "one or more, like FAILED or PENDING,QUEUED")
    .option("--kind <kind>", "the id of the definition")
    .option("--lane <lane>")
    .option("--key <key>")
    .option("--error <code>", "the code of its error")
    .option("--fingerprint <group>", "as dead-letters list shows it")
    .option("--run <id>")
    .option("--schedule <id>")
    .option("--worker <id>")
    .option("--due-from <time>", "with its offset")
    .option("--due-to <time>", "with its offset")
    .option("--since <duration>", "due no longer ago than this, like 30m or 2h")
    .option("--payload <member=value>", "user.id=42; up to three", (text, all: string[]) => [...all, text], [])
    .option("--sort <order>", "newest, oldest or due")
    .option("--limit <count>", "1 to 500", "50")
    .option("--cursor <cursor>", "the nextCursor of the page before")
    .option("--all", "every page")
    .option("--columns <names>", columnNames.join(","), usualColumns.join(","))
    .option("--tz <zone>", "times by the clock of this zone")
    .option("--csv", "for a spreadsheet, instead of the table")
    .option("--watch", "again every two seconds until Ctrl-C")
    .option("--check", "exit with 7 when a FAILED job is listed")
    .addHelpText("after", "\nExample:\n  $ npx belfry jobs list --kind outbox-retry --state FAILED,RETRY_WAIT")
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
  const query = queryOf(options);
  const first = await client.jobs(options.all === true ? { ...query, limit: "500" } : query);
  if (options.all !== true) return first;
  const jobs = [...first.jobs];
  let page = first;
  for (let pages = 1; page.nextCursor !== null && pages < pagesMax; pages += 1) {
    page = await client.jobs({ ...query, limit: "500", cursor: page.nextCursor });
    jobs.push(...page.jobs);
  }
  return { ...page, jobs };
}

function queryOf(options: ListOptions): Readonly<Record<string, string | undefined>> {
  const { payload = [], since, columns: _c, tz: _t, csv: _v, check: _k, all: _a, watch: _w, ...filters } = options;
  const members = payload.map((text) => {
    const [, path = "", value = ""] = /^([^=]+)=([^]*)$/.exec(text) ?? [];
    if (path === "")
      throw new CliError(exitCodes.usage, "bad-payload", `--payload is ${JSON.stringify(text)}: write user.id=42`);
    return [`payload.${path}`, value] as const;
  });
  const dueFrom = since === undefined ? {} : { dueFrom: new Date(Date.now() - msOf(since)).toISOString() };
  return { ...(filters as Record<string, string>), ...dueFrom, ...Object.fromEntries(members) };
}

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function msOf(text: string): number {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * (unitsMs[unit] ?? 0);
  throw new CliError(
    exitCodes.usage,
    "bad-duration",
    `--since is ${JSON.stringify(text)}: write it like 30m, 2h or 1d`,
  );
}

function listText(page: JobListReply, options: ListOptions, { isTerminal }: Streams, out: Output): string {
  const asCsv = options.csv === true;
  if (page.jobs.length === 0 && !asCsv) return "no jobs";
  const names = options.columns?.toLowerCase().split(",") ?? usualColumns;
  const iso: Output["time"] = (instant) => instant ?? "";
  const time = options.tz === undefined ? (asCsv ? iso : out.time) : timeIn(options.tz);
  const listed = jobTable(page.jobs, names, time);
  return asCsv ? csv(...listed, isTerminal) : out.table(...listed);
}
