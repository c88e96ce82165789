/** What jobs cost by what they used and by list prices: an estimate, which says what it leaves out. */
import { z } from "zod";
import type { JobDefinition } from "../define/definition.ts";
import { jobTaskSize } from "../define/task-size.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Instant } from "../machine/job.ts";
import { dayMs, hourMs } from "../machine/units.ts";
import { count } from "./atoms.ts";
import { insightLimits } from "./insight-limits.ts";
import { assumptions, hoursAMonth, prices, region, usdOf, workUses } from "./prices.ts";
import { type Database, isoText, oneRow, sqlQuery } from "./sql-query.ts";

/** What the jobs of a stage run on, as far as it has a price. */
export interface CostFacts {
  readonly stage: string;
  readonly lanes: readonly { readonly name: string; readonly memoryMb: number }[];
  /** Kinds that run in tasks on Fargate; 1,024 of `cpu` are a core. */
  readonly tasks: readonly { readonly kind: string; readonly cpu: number; readonly memoryMb: number }[];
  /** Of the database, a month; null: not known. */
  readonly databaseUsd: number | null;
}

/** As this release defines lanes and kinds. */
export const costFacts = ({
  jobs,
  ...of
}: Omit<CostFacts, "tasks"> & { readonly jobs: Iterable<JobDefinition> }): CostFacts => ({
  ...of,
  tasks: [...jobs].flatMap(({ id: kind, runOn, size }) =>
    runOn === "fargate" ? { kind, ...(size ?? jobTaskSize) } : [],
  ),
});

/** Whole days in UTC as YYYY-MM-DD, `to` without itself. */
export interface CostQuestion {
  readonly from: string;
  readonly to: string;
  readonly by: Costs["by"];
  /** Null: all. */
  readonly kinds: readonly string[] | null;
}

const amount = z.number().min(0);
const figures = {
  attempts: amount.describe("That started."),
  calls: amount.describe("Of workers, shared by the jobs that they claimed together."),
  runMs: amount.describe("Of the attempts that ended, whatever their end."),
  gbSeconds: amount.describe("Of functions, estimated."),
  vcpuHours: amount.describe("Of tasks on Fargate, each billed for a minute at least."),
  gbHours: amount.describe("Of tasks on Fargate."),
};

/**
 * Groups by $3, the dearest first, and in a row without a name all behind $4 of them. $1 from $2 to $5 kinds or null. $6 lanes with their
 * memory in GB $7. $8 kinds on Fargate with their cores $9 and GB $10. $11 seconds of a call beside its handlers. USD of an attempt $12,
 * a call $13, a GB-second $14, a vCPU-hour $15, a GB-hour $16, and of the database in the period $17. Of jobs that a worker claimed
 * together each takes its part of the call: so the sum is the same by whatever they are grouped. Rounded, as the last
 * digits depend on the order of the rows. Locks nothing.
 */
export const readUsage = sqlQuery("usage", {
  params: ({ asked, facts, databaseUsd }: { asked: CostQuestion; facts: CostFacts; databaseUsd: number }) => [
    asked.from,
    asked.to,
    asked.by,
    insightLimits.costGroupsMax,
    asked.kinds,
    facts.lanes.map(({ name }) => name),
    facts.lanes.map(({ memoryMb }) => memoryMb / 1_024),
    facts.tasks.map(({ kind }) => kind),
    facts.tasks.map(({ cpu }) => cpu / 1_024),
    facts.tasks.map(({ memoryMb }) => memoryMb / 1_024),
    (assumptions.invocationMs - assumptions.handlerMs) / 1_000,
    usdOf(workUses({ attempts: 1, calls: 0, gbSeconds: 0 })),
    usdOf(workUses({ attempts: 0, calls: 1, gbSeconds: 0 })),
    usdOf(workUses({ attempts: 0, calls: 0, gbSeconds: 1 })),
    prices["Fargate ARM, CPU"].usd,
    prices["Fargate ARM, memory"].usd,
    databaseUsd,
  ],
  row: z.object({ name: z.string().nullable(), groups: count, attemptsOfAll: amount, ...figures }),
})(`
with grouped as materialized (
  select case $3::text when 'kind' then kind when 'schedule' then schedule_id else key end as name, kind, lane,
    sum(attempts::float8) as attempts, sum(calls) as calls, sum(run_ms::float8) as run_ms,
    sum(run_ms::float8 * coalesce(calls / nullif(attempts, 0), 1)) as call_ms, sum(minute_ms::float8) as minute_ms
  from belfry.usage where day >= $1::date and day < $2::date group by 1, 2, 3
), whole as materialized (
  select sum(attempts) as attempts from grouped
), used as (
  select g.name, g.attempts, g.calls, g.run_ms,
    (case when t.kind is null then g.call_ms / 1000 else 0 end + g.calls * $11::float8)
      * coalesce(l.gb, (select max(gb) from unnest($7::float8[]) gb), 0) as gb_seconds,
    coalesce(g.minute_ms / 3600000 * t.cores, 0) as vcpu_hours, coalesce(g.minute_ms / 3600000 * t.gb, 0) as gb_hours
  from grouped g
  left join unnest($6::text[], $7::float8[]) as l (name, gb) on l.name = g.lane
  left join unnest($8::text[], $9::float8[], $10::float8[]) as t (kind, cores, gb) on t.kind = g.kind
  where $5::text[] is null or g.kind = any($5::text[])
), summed as (
  select name, sum(attempts) as attempts, sum(calls) as calls, sum(run_ms) as run_ms, sum(gb_seconds) as gb_seconds,
    sum(vcpu_hours) as vcpu_hours, sum(gb_hours) as gb_hours
  from used group by name
), ranked as (
  select s.*, w.attempts as of_all, row_number() over (order by s.attempts * ($12::float8 + coalesce($17::float8 / nullif(w.attempts, 0), 0))
    + s.calls * $13::float8 + s.gb_seconds * $14::float8 + s.vcpu_hours * $15::float8 + s.gb_hours * $16::float8 desc, s.name) as nth
  from summed s cross join whole w
)
select case when nth <= $4 and name <> '(others)' then name end as name, count(*)::int as groups, min(of_all) as "attemptsOfAll",
  sum(attempts) as attempts, round(sum(calls)::numeric, 9)::float8 as calls, sum(run_ms) as "runMs",
  round(sum(gb_seconds)::numeric, 9)::float8 as "gbSeconds", round(sum(vcpu_hours)::numeric, 9)::float8 as "vcpuHours",
  round(sum(gb_hours)::numeric, 9)::float8 as "gbHours"
from ranked group by 1 order by min(nth)`);

/** One row: the first day of which something was added up, and since when events from $1 on wait for that. Locks nothing. */
export const readCounted = sqlQuery("usage-counted", {
  params: (firstEvent: string) => [firstEvent],
  row: z.object({ since: z.string().nullable(), waiting: z.string().nullable() }),
})(`
select (select min(day)::text from belfry.usage) as since, (
  select ${isoText("e.at")} from belfry.event e
  where e.xid >= (select upto::xid8 from belfry.reader where name = 'roll-up') and e.id >= $1::bigint order by e.xid limit 1
) as waiting`);

/** In UTC. */
export const dayPattern = z.regexes.date.source;
const day = z.string().regex(z.regexes.date);

const usd = z.object({
  lambda: amount.describe("Calls of workers and their time."),
  fargate: amount,
  queues: amount,
  logs: amount,
  database: amount.describe("By the share of all attempts of the period; 0 where its price is not known."),
  total: amount,
});

const line = z.object({ ...figures, usd });
/** What a group used, and its price by part. */
export type CostLine = Readonly<
  Record<"attempts" | "calls" | "runMs" | "gbSeconds" | "vcpuHours" | "gbHours", number>
> & { readonly usd: Readonly<Record<"lambda" | "fargate" | "queues" | "logs" | "database" | "total", number>> };

/** What `GET /costs` answers. */
export interface Costs {
  readonly stage: string;
  readonly region: string;
  readonly from: string;
  readonly to: string;
  readonly by: "kind" | "schedule" | "key";
  /** The dearest first. Name empty: of no schedule, or without a key. */
  readonly groups: readonly (CostLine & { readonly name: string })[];
  /** What is not listed, together. */
  readonly others: (CostLine & { readonly groups: number }) | null;
  readonly total: CostLine;
  readonly databaseUsd: number | null;
  readonly isEstimate: true;
  readonly assumes: readonly string[];
  readonly leftOut: readonly string[];
}

export const costGrouping = z.enum(["kind", "schedule", "key"]);
export const costList: z.ZodType<Costs> = z
  .object({
    stage: z.string(),
    region: z.string().describe("Whose prices they are."),
    from: day,
    to: day.describe("The first day that is not in it."),
    by: costGrouping,
    groups: z
      .array(line.extend({ name: z.string().describe("Empty: of no schedule, or without a key.") }))
      .describe("The dearest first."),
    others: line
      .extend({ groups: count.describe("What was one row too many of a day counts as one.") })
      .nullable()
      .describe("What is not listed, together."),
    total: line,
    databaseUsd: amount.nullable().describe("Of the database, a month, with its disk; null: not known."),
    isEstimate: z.literal(true),
    assumes: z.array(z.string()),
    leftOut: z.array(z.string()),
  })
  .meta({ id: "CostList" });
export async function costsOf(
  database: Database,
  { asked, facts, now }: { readonly asked: CostQuestion; readonly facts: CostFacts; readonly now: Instant },
): Promise<Costs> {
  const { since, waiting } = await oneRow(database, readCounted, (await database.epoch()).first_event_id);
  // Of days before the system was there its database is not charged for.
  const from = Math.max(Date.parse(asked.from), Date.parse(since ?? asked.from));
  const hours = Math.max(0, Math.min(now, Date.parse(asked.to)) - from) / hourMs;
  const databaseUsd = ((facts.databaseUsd ?? 0) * hours) / hoursAMonth;
  const rows = await database.run(readUsage, { asked, facts, databaseUsd });
  const lines = rows.map((row) => ({ name: row.name, groups: row.groups, line: lineOf(row, databaseUsd) }));
  const others = lines.find(({ name }) => name === null);
  return {
    stage: facts.stage,
    region,
    from: asked.from,
    to: asked.to,
    by: asked.by,
    groups: lines.flatMap(({ name, line }) => (name === null ? [] : { name, ...line })),
    others: others === undefined ? null : { groups: others.groups, ...others.line },
    total: lines.reduce((sum, { line }) => added(sum, line), noCost),
    databaseUsd: facts.databaseUsd,
    isEstimate: true,
    assumes,
    leftOut: [
      ...(since === null || since > asked.from ? [`days before ${since ?? dayOf(now)}: nothing was counted then`] : []),
      ...(waiting === null || now - Date.parse(waiting) < waitingMs
        ? []
        : [`what happened since ${waiting}: it is not added up yet`]),
      ...(facts.databaseUsd === null ? ["the database, whose price is not known here"] : []),
      ...leftOut,
    ],
  };
}

/** What is not added up for longer is said: a round takes a second. */
const waitingMs = 30_000;

const assumes = [
  `list prices of ${region}, before discounts, free tiers and taxes`,
  "a call of a worker takes as long as the mean of its jobs, of which each has its part",
  `${assumptions.invocationMs - assumptions.handlerMs} ms of a call beside its handlers`,
  `${assumptions.logBytesAJob} bytes of log an attempt and ${assumptions.logBytesAnInvocation} a call`,
  "an attempt counts on the day it started, its time on the day it ended: one that runs has none yet",
  "time of a day on which none of its group started counts as of jobs that were alone in their calls",
  "kinds and lanes run as this release defines them, those it does not have as functions of its largest lane",
];
const leftOut = [
  "what handlers do and call",
  "data transfer and NAT",
  "scheduler, API, alarms and what else an idle stage costs",
  "metrics",
  "cold starts, messages that are sent again, the archive",
  "addresses of tasks",
];

function lineOf(row: Omit<CostLine, "usd"> & { readonly attemptsOfAll: number }, databaseUsd: number): CostLine {
  const { attempts, calls, runMs, gbSeconds, vcpuHours, gbHours } = row;
  const uses = workUses(row);
  const of = (part: "Lambda" | "SQS" | "CloudWatch"): number => usdOf(uses.filter((use) => use.of.startsWith(part)));
  const parts = {
    lambda: of("Lambda"),
    fargate: vcpuHours * prices["Fargate ARM, CPU"].usd + gbHours * prices["Fargate ARM, memory"].usd,
    queues: of("SQS"),
    logs: of("CloudWatch"),
    database: attempts === 0 ? 0 : (databaseUsd * attempts) / row.attemptsOfAll,
  };
  const total = Object.values(parts).reduce((sum, part) => sum + part, 0);
  return { attempts, calls, runMs, gbSeconds, vcpuHours, gbHours, usd: { ...parts, total } };
}

const noCost: CostLine = {
  attempts: 0,
  calls: 0,
  runMs: 0,
  gbSeconds: 0,
  vcpuHours: 0,
  gbHours: 0,
  usd: { lambda: 0, fargate: 0, queues: 0, logs: 0, database: 0, total: 0 },
};

const added = ({ usd: a, ...sum }: CostLine, { usd: b, ...more }: CostLine): CostLine => ({
  ...plus(sum, more),
  usd: plus(a, b),
});

const plus = <T extends Readonly<Record<string, number>>>(a: T, b: T): T =>
  Object.fromEntries(Object.entries(a).map(([name, value]) => [name, value + (b[name] ?? 0)])) as T;

/** This month to now where nothing is said; days that are not kept are no period. @throws RangeError naming what is no period. */
export function costPeriod(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: Instant,
) {
  for (const [name, day] of Object.entries({ from, to }))
    if (day !== undefined && !z.iso.date().safeParse(day).success)
      throw new RangeError(`${name} is ${JSON.stringify(day)}: it must be a day in UTC: 2026-11-01`);
  const end = to ?? dayOf(now + dayMs);
  const start = from ?? `${dayOf(Date.parse(end) - dayMs).slice(0, 8)}01`;
  if (end <= start)
    throw new RangeError(
      `from is ${start} and to is ${end}: to must be a later day, as it is the first that does not count`,
    );
  const kept = dayOf(now - contractLimits.usageMs);
  if (start < kept)
    throw new RangeError(
      `from is ${start}: it must be ${kept} or later, as ${contractLimits.usageMs / dayMs} days are kept`,
    );
  return { from: start, to: end };
}

const dayOf = (at: Instant): string => new Date(at).toISOString().slice(0, 10);
