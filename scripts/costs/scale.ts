import { demandOf, batch, type JobCost, longHandlerMs, secondsOfBatch, shortHandlerMs } from "./demand.ts";
import { loadApps, stageNamed } from "../../test/support/own-project.ts";
import { poolShareMax, topology } from "../../src/stage/topology.ts";
import { prices } from "../../src/insight/prices.ts";

/** The columns of the table of what a job costs: the first five do not depend on the machine. */
const measured = [
  "walBytes",
  "statements",
  "sqsCalls",
  "logBytes",
  "keptBytes",
  "postgresUs",
  "nodeUs",
  "connectionMs",
] as const;
export type Measured = Readonly<Record<(typeof measured)[number], number>>;

/** What a job of each kind of work costs by the page's own table, which `bench -- cost` prints. */
export function measuredIn(page: string): ReadonlyMap<string, Measured> {
  const section = /^## What a job costs$[^]*?^## /m.exec(page)?.[0] ?? "";
  const rows = [...section.matchAll(/^\| ([^|\s].*?) \|(.*)\|$/gm)].map(([, work = "", cells = ""]) => {
    const figures = cells.split("|").map((cell) => Number(cell.replaceAll(",", "")));
    return [work, Object.fromEntries(measured.map((field, at) => [field, figures[at]])) as Measured] as const;
  });
  return new Map(rows);
}

export function measuredTable(costs: readonly (Measured & { readonly work: string })[]): string {
  const short = (value: number): string => value.toFixed(value >= 1 ? 1 : 2);
  const rows = costs.map(({ work, ...each }) => {
    const { walBytes, statements, sqsCalls, logBytes, keptBytes, postgresUs, nodeUs, connectionMs } = each;
    const counts = [whole(walBytes), short(statements), short(sqsCalls), whole(logBytes), whole(keptBytes)];
    return [work, ...counts, whole(postgresUs), whole(nodeUs), short(connectionMs)];
  });
  const head = ["", "WAL B", "statements", "SQS calls", "log B", "kept B", "Postgres us", "Node us", "connection ms"];
  return markdown([head, ...rows]);
}

const markdown = ([head = [], ...rows]: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** What the model takes from it. @throws Error where a row is missing. */
export function jobCost(costs: ReadonlyMap<string, Measured>): JobCost {
  const of = (work: string): Measured => {
    const found = costs.get(work);
    if (found === undefined) throw new Error(`no cost of "${work}" was measured`);
    return found;
  };
  return { ...of("job, ten a batch"), keyedWalBytes: of("keyed job behind a checkpoint, ten a batch").walBytes };
}

/** Marks what is computed: everything up to the next closing mark is replaced. */
const marked = /(<!-- computed: (\w+) -->\n)[^]*?(\n<!-- \/computed -->)/g;

/** @returns the page with its computed parts as they are now. @throws Error for a mark that no part has. */
export async function scalePage(page: string): Promise<string> {
  const cost = jobCost(measuredIn(page));
  const parts: Readonly<Record<string, string>> = {
    asked: demandTable(cost),
    connections: await connectionsPart(),
    quotas: quotaTable(cost),
  };
  return page.replaceAll(marked, (_, open: string, name: string, close: string) => {
    const part = parts[name];
    if (part === undefined)
      throw new Error(`docs/scale.md asks for the part "${name}", which scripts/costs/scale.ts has not`);
    return `${open}${part}${close}`;
  });
}

const whole = (value: number): string => Math.round(value).toLocaleString("en-US");

/** In two zones: a standby has a disk of its own. */
const diskUsd = (gb: number): number => 2 * gb * prices["RDS gp3"].usd;

export function demandTable(cost: JobCost): string {
  const head = [
    "jobs a day",
    "peak a second",
    "Postgres cores",
    "scheduler cores",
    "WAL MB/s",
    "WAL MB/s, keyed, behind a checkpoint",
  ];
  const more = ["connections, 50 ms", "connections, 2 s", "kept GB", "jobs, USD a month", "disk, USD a month"];
  const rows = [1e6, 1e7, 1e8, 1e9].map((jobsADay) => {
    const each = demandOf(cost, jobsADay);
    return [
      jobsADay.toExponential(0).replace("+", ""),
      whole(each.peakPerSecond),
      each.postgresCores.toFixed(2),
      each.schedulerCores.toFixed(2),
      each.walMbPerSecond.toFixed(2),
      each.keyedWalMbPerSecond.toFixed(1),
      ...[each.connections.short, each.connections.long, each.keptGb, each.usdAMonth, diskUsd(each.keptGb)].map(whole),
    ];
  });
  return markdown([[...head, ...more], ...rows]);
}

/** How many workers the connections of `prod` allow, and what so many do. */
async function connectionsPart(): Promise<string> {
  const stage = stageNamed("prod");
  const { database, lanes } = topology(await loadApps(stage), stage);
  const { maxConnections, poolPerWorker, connectionsMax } = database;
  const own = lanes.reduce((sum, { concurrency }) => sum + concurrency, 0);
  const others = connectionsMax - own * poolPerWorker;
  const allowed = Math.floor(poolShareMax * maxConnections);
  const workers = Math.floor((allowed - others) / poolPerWorker);
  const rate = (count: number, handlerMs: number): number => (count * batch) / secondsOfBatch(handlerMs);
  const day = (rate(own, longHandlerMs) * 86_400) / 1e6;
  return `For \`prod\` (${maxConnections}) that is ${allowed}, of which the API, the drains, two scheduler tasks and jobs on Fargate take ${others}: ${workers} workers. With ten jobs a batch
${workers} sandboxes do ${whole(rate(workers, shortHandlerMs))} jobs a second with a handler of ${shortHandlerMs} ms, and ${whole(rate(workers, longHandlerMs))} with one of ${longHandlerMs / 1_000} s. As \`prod\` is configured, its ${own} workers do ${whole(rate(own, longHandlerMs))} a second
with ${longHandlerMs / 1_000} s, ${day.toFixed(1)} million a day.`;
}

function quotaTable(cost: JobCost): string {
  const { sandboxes } = demandOf(cost, 1e8);
  const aws = "https://docs.aws.amazon.com";
  const rows = [
    [
      "Lambda, concurrent executions of an account",
      `[1,000](${aws}/lambda/latest/dg/gettingstarted-limits.html)`,
      sandboxes.short,
      sandboxes.long,
    ],
    [
      "Lambda, concurrency of one queue's mapping",
      `[1,000](${aws}/lambda/latest/dg/services-sqs-scaling.html)`,
      sandboxes.short,
      sandboxes.long,
    ],
    [
      "SQS, messages in flight of a queue",
      `[120,000](${aws}/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html)`,
      sandboxes.short * batch,
      sandboxes.long * batch,
    ],
    [
      "RDS, new sign-ins by IAM a second, when all begin at once",
      `[200](${aws}/AmazonRDS/latest/UserGuide/UsingWithRDS.IAMDBAuth.html), advice`,
      sandboxes.short * 2,
      sandboxes.long * 2,
    ],
  ] as const;
  return [
    `| quota | default | asked at 1e8 a day, handlers of ${shortHandlerMs} ms | of ${longHandlerMs / 1_000} s |`,
    "|---|---|---|---|",
    ...rows.map(([what, most, short, long]) => `| ${what} | ${most} | ${whole(short)} | ${whole(long)} |`),
  ].join("\n");
}
