import { availableParallelism, loadavg } from "node:os";
import Table from "cli-table3";
import type { Pool } from "pg";
import type { Ended } from "./judge-all.ts";
import type { Check, Evidence, Judge } from "./judge.ts";

/** `slow`: this machine was too busy to show it; nothing that was seen breaks a promise. */
export type Verdict = "pass" | "slow" | "broken";

/** The shape of `npm run demo -- --json`; members are only ever added. */
export interface Report {
  readonly pass: boolean;
  readonly verdict: Verdict;
  /** Processes that wanted to run, for each core, in the last minute: 1 is a machine that is just full. */
  readonly load: number;
  /** Seconds of the system per second of the machine. */
  readonly scale: number;
  /** Seconds of the machine, start of the system included. */
  readonly seconds: number;
  readonly examples: readonly ExampleReport[];
}

export interface ExampleReport {
  readonly name: string;
  readonly pass: boolean;
  readonly jobs: Readonly<Record<string, number>>;
  /** Of those that wait, how many are due only later: the times that follow the end of the demonstration. */
  readonly ahead: number;
  /** Milliseconds from the nominal time to the start, over the occurrences that fired. */
  readonly lateness: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly checks: readonly Check[];
}

const jobsByState = `
  select state::text, count(*)::int as count,
    (count(*) filter (where state in ('PENDING', 'QUEUED', 'RETRY_WAIT') and due_at > belfry.now()))::int as ahead
  from belfry.job where kind = any($1) group by 1 order by 1`;

const latenessOf = `
  select coalesce(percentile_cont(0.5) within group (order by lateness_ms), 0)::int as p50,
    coalesce(percentile_cont(0.99) within group (order by lateness_ms), 0)::int as p99,
    coalesce(max(lateness_ms), 0)::int as max
  from belfry.occurrence where schedule_id = any($1) and outcome = 'FIRED'`;

const complete = "complete within the time";

/** Above this many processes a core, times say nothing about Belfry. The demonstration alone makes about 1. */
const busyLoad = 3;

/**
 * Where the time ran out while progress was made, what is missing may still come: only what was done wrongly would break a
 * promise, and the checks that look at everything cannot tell the two apart. Checks of speed need a machine with room.
 */
export function verdictOf(examples: readonly ExampleReport[], ended: Ended, load: number): Verdict {
  const failed = examples.flatMap(({ checks }) => checks.filter(({ pass }) => !pass));
  if (failed.length === 0) return "pass";
  if (ended === "out of time") return "slow";
  return load > busyLoad && failed.every(({ isTimed }) => isTimed === true) ? "slow" : "broken";
}

/** The report of this machine, as it is now. */
export function reportOf(examples: readonly ExampleReport[], ended: Ended, scale: number, seconds: number): Report {
  const load = (loadavg()[0] ?? 0) / availableParallelism();
  const verdict = verdictOf(examples, ended, load);
  return { pass: verdict === "pass", verdict, load, scale, seconds, examples };
}

/** Judges one example by the tables and ledgers as they are now. */
export async function judgeExample(judge: Judge, evidence: Evidence, isComplete: boolean): Promise<ExampleReport> {
  const checks = [
    { name: complete, pass: isComplete, detail: (await judge.progress(evidence)).line },
    ...(await judge.checks(evidence)),
  ];
  const { rows } = await evidence.db.query<{ state: string; count: number; ahead: number }>(jobsByState, [judge.kinds]);
  return {
    name: judge.name,
    pass: checks.every((check) => check.pass),
    jobs: Object.fromEntries(rows.map(({ state, count }) => [state, count])),
    ahead: rows.reduce((sum, row) => sum + row.ahead, 0),
    lateness: await lateness(evidence.db, judge.schedules),
    checks,
  };
}

async function lateness(db: Pool, schedules: readonly string[]): Promise<ExampleReport["lateness"]> {
  const { rows } = await db.query<ExampleReport["lateness"]>(latenessOf, [schedules]);
  return rows[0] ?? { p50: 0, p99: 0, max: 0 };
}

const words = {
  pass: "PASS",
  slow: "SLOW: this machine was too busy to show every promise, and none was seen broken,",
  broken: "FAIL",
} as const satisfies Record<Verdict, string>;

/** One table for people. */
export function reportText({ verdict, load, scale, seconds, examples }: Report): string {
  const table = new Table({
    head: ["example", "jobs by state", "lateness", "judged by the targets' ledgers and the tables"],
    style: { head: [], border: [] },
    colWidths: [18, 17, 16, 66],
    wordWrap: true,
  });
  for (const { name, jobs, ahead, lateness: late, checks } of examples) {
    const states = Object.entries(jobs).map(([state, count]) => `${count} ${state}`);
    if (ahead > 0) states.push(`(${ahead} scheduled ahead)`);
    const lines = checks.map((check) => `${check.pass ? "ok  " : "FAIL"} ${check.name} (${check.detail})`);
    const times = [`p50 ${late.p50} ms`, `p99 ${late.p99} ms`, `max ${late.max} ms`];
    table.push([name, states.join("\n"), times.join("\n"), lines.join("\n")]);
  }
  const time = `${Math.round(seconds)} s at ${scale} x time, ${load.toFixed(1)} processes a core`;
  return `${table.toString()}\n${words[verdict]} in ${time}`;
}
