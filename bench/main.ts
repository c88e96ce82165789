/** `npm run bench -- NAME... [--json]`: figures beside their roofs, or beside another commit. Exits 1 when a bar is missed. */
import { parseArgs } from "node:util";
import { comparable } from "./against/bars.ts";
import { compare } from "./against/compare.ts";
import { comparisonTable } from "./against/table.ts";
import { type Case, cases } from "./cases/index.ts";
import { cells } from "./cells/cells.ts";
import { cellsPass, cellsTable } from "./cells/report.ts";
import { cost } from "./cost/cost.ts";
import { costTable, scaleTable } from "./cost/report.ts";
import { type Ground, openGround } from "./ground.ts";
import { growth } from "./growth/growth.ts";
import { growthTable } from "./growth/report.ts";
import { type Figure, rounds } from "./measure.ts";
import { lines, verdicts as judge } from "./peers/judge.ts";
import { peers } from "./peers/peers.ts";
import { peersTable } from "./peers/report.ts";
import { jobsAMark, keptJobs } from "./soak/marks.ts";
import { type SoakedPeer, soakedPeers, soakOfPeer } from "./soak/peer.ts";
import { marksTable, soakTable, soakVerdicts } from "./soak/report.ts";
import { soak } from "./soak/soak.ts";
import { table } from "./table.ts";

const help = `npm run bench -- [NAME...] [--json] [--minutes N] [--against COMMIT]

Measures Belfry and, in turns with it, what the machine gives without Belfry (the roof). Medians of ${rounds} rounds; the
ratio is the median of the rounds' own ratios. Postgres is real, with durable commits. Without a name: all of them.

${cases.map(({ name, what }) => `  ${name.padEnd(11)} ${what}`).join("\n")}

Alone, because they need databases of their own: about four, ten, two and three minutes on two idle cores, and an hour for soak.

  growth      pages of every statement, route, list and screen at N and 10 N of all that is kept; above 1.3 x it fails
  peers       graphile-worker and pg-boss on the same server in turns: rates, pick-up, CPU, WAL, bytes kept, and what for
  cost        WAL, CPU, statements, time of connections, SQS calls, log and bytes kept a job, by kind of work: docs/scale.md
  cells       one cell and two cells, each with a server and a process of its own, on cores they share or have alone,
              beside the model of docs/scale.md; fails above 20 % apart. Needs taskset

  soak        enqueues and works 10,000,000 jobs while as many leave: sizes, dead rows, WAL and times after each 100,000

  --peer      the soak's load on ${soakedPeers.join(" or ")} instead: figures to lay beside, without bars
  --jobs      how many the soak works, in hundred thousands; 10,000,000 without it
  --json      one JSON object on stdout: { pass, results: [{ name, value, unit, min, max, roof, ratio, bar, pass }] }
  --minutes   how long ontime goes on; 5 without it
  --size      a part of peers, cost, cells or soak, above 0 and at most 1, which shows that it runs and not what is quick
  --against   beside another commit instead, on one server, round by round in turns: rate, Postgres CPU, WAL and statements
              a job, and the share of heap-only updates. For ${comparable.join(", ")}
  --help      this text

Exit code 0 when every bar is reached, 1 when one is missed, 2 for a wrong call.
`;

const aloneNames = ["growth", "peers", "cost", "cells", "soak"];
const soakJobs = 10_000_000;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const called = parse(args);
  if ("problem" in called) {
    process.stderr.write(`${called.problem}\n`);
    return 2;
  }
  if (called.help) {
    process.stdout.write(help);
    return 0;
  }
  if (called.alone === "growth") return await runGrowth(called.json);
  if (called.alone === "peers") return await runPeers(called.size, called.json);
  if (called.alone === "cost") return await runCost(called.size, called.json);
  if (called.alone === "cells") return await runCells(called.size, called.json);
  if (called.alone === "soak") return await runSoak(called);
  if (called.against !== null) return await runAgainst(called.chosen, called.against, called.json);
  const figures = await run(called.chosen, called.minutes);
  const pass = figures.every((figure) => figure.pass);
  process.stdout.write(called.json ? `${JSON.stringify({ pass, results: figures })}\n` : `${table(figures)}\n`);
  return pass ? 0 : 1;
}

type Called =
  | {
      help: boolean;
      json: boolean;
      minutes: number;
      chosen: readonly Case[];
      against: string | null;
      alone: string | null;
      size: number;
      jobs: number;
      peer: SoakedPeer | null;
    }
  | { problem: string };

function parse(args: readonly string[]): Called {
  try {
    const options = {
      json: { type: "boolean" },
      minutes: { type: "string" },
      size: { type: "string" },
      jobs: { type: "string" },
      peer: { type: "string" },
      against: { type: "string" },
      help: { type: "boolean", short: "h" },
    } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [first = ""] = positionals;
    const alone = positionals.length === 1 && aloneNames.includes(first) ? first : null;
    const unknown = alone !== null ? [] : positionals.filter((name) => !cases.some((each) => each.name === name));
    if (unknown.length > 0) {
      const known = cases.map((each) => each.name).join(", ");
      return { problem: `there is no bench "${unknown.join('", "')}": choose from ${known}` };
    }
    const { against = null } = values;
    const others = positionals.filter((name) => !comparable.includes(name));
    if (against !== null && others.length > 0)
      return { problem: `--against compares ${comparable.join(", ")}: not "${others.join('", "')}"` };
    const wanted =
      positionals.length > 0 ? positionals : against === null ? cases.map((each) => each.name) : comparable;
    const chosen = cases.filter((each) => wanted.includes(each.name));
    const minutes = Number(values.minutes ?? 5);
    if (!(minutes > 0)) return { problem: `--minutes "${values.minutes}": must be a number above 0` };
    const size = Number(values.size ?? 1);
    if (!(size > 0 && size <= 1)) return { problem: `--size "${values.size}": must be above 0 and at most 1` };
    const jobs = Number(values.jobs ?? soakJobs);
    const isWhole = Number.isInteger((jobs * size) / jobsAMark) && jobs > 0;
    if (alone === "soak" && !isWhole)
      return { problem: `--jobs "${jobs}" times --size "${size}": must be hundred thousands above 0` };
    const peer = soakedPeers.find((each) => each === values.peer) ?? null;
    if (values.peer !== undefined && peer === null)
      return { problem: `--peer "${values.peer}": must be ${soakedPeers.join(" or ")}` };
    if (peer !== null && alone !== "soak") return { problem: `--peer "${peer}": must come with soak, alone` };
    return {
      help: values.help === true,
      json: values.json === true,
      minutes,
      size,
      jobs,
      peer,
      chosen,
      against,
      alone,
    };
  } catch (error) {
    return { problem: `${error instanceof Error ? error.message : String(error)}: see --help` };
  }
}

async function runAgainst(chosen: readonly Case[], commit: string, isJson: boolean): Promise<number> {
  const names = chosen.map((each) => each.name);
  const comparisons = await compare(names, commit);
  const pass = comparisons.every((each) => each.pass);
  process.stdout.write(
    isJson ? `${JSON.stringify({ pass, comparisons })}\n` : `${comparisonTable(comparisons, commit)}\n`,
  );
  return pass ? 0 : 1;
}

async function runGrowth(isJson: boolean): Promise<number> {
  const lines = await withGround(growth);
  const pass = lines.every((line) => line.verdict !== "worse");
  process.stdout.write(isJson ? `${JSON.stringify({ pass, lines })}\n` : `${growthTable(lines)}\n`);
  return pass ? 0 : 1;
}

async function runPeers(size: number, isJson: boolean): Promise<number> {
  const rounds = await withGround((ground) => peers(ground, size, (text) => process.stderr.write(`${text}\n`)));
  const judged = judge(rounds);
  const pass = judged.every((each) => each.pass);
  const figures = lines(rounds);
  process.stdout.write(
    isJson ? `${JSON.stringify({ pass, lines: figures, verdicts: judged })}\n` : `${peersTable(figures, judged)}\n`,
  );
  return pass ? 0 : 1;
}

async function runCost(size: number, isJson: boolean): Promise<number> {
  const costs = await withGround((ground) => cost(ground, size));
  process.stdout.write(isJson ? `${JSON.stringify({ costs })}\n` : `${costTable(costs)}\n${scaleTable(costs)}\n`);
  return 0;
}

async function runCells(size: number, isJson: boolean): Promise<number> {
  const run = await cells(size, (text) => process.stderr.write(`${text}\n`));
  const pass = cellsPass(run);
  process.stdout.write(isJson ? `${JSON.stringify({ pass, ...run })}\n` : `${cellsTable(run)}\n`);
  return pass ? 0 : 1;
}

/** A peer has no bars to reach. */
async function runSoak(called: Extract<Called, { help: boolean }>): Promise<number> {
  const { size, peer, json: isJson } = called;
  const plan = { jobs: called.jobs * size, kept: Math.round(keptJobs * size), jobsAMark };
  const tell = (text: string): boolean => process.stderr.write(`${text}\n`);
  if (peer !== null) {
    const marks = await withGround((ground) => soakOfPeer(ground, { ...plan, peer }, tell));
    process.stdout.write(isJson ? `${JSON.stringify({ peer, marks })}\n` : `${marksTable(marks)}\n`);
    return 0;
  }
  const marks = await withGround((ground) => soak(ground, plan, tell));
  const verdicts = soakVerdicts(marks);
  const pass = verdicts.every((each) => each.pass);
  process.stdout.write(isJson ? `${JSON.stringify({ pass, marks, verdicts })}\n` : `${soakTable(marks)}\n`);
  return pass ? 0 : 1;
}

/** Progress goes to stderr, so that stdout holds the result only. */
async function run(chosen: readonly Case[], minutes: number): Promise<readonly Figure[]> {
  return await withGround(async (ground) => {
    const figures: Figure[] = [];
    for (const each of chosen) {
      const startedMs = performance.now();
      figures.push(...(await each.run(ground, { minutes })));
      process.stderr.write(`${each.name} took ${((performance.now() - startedMs) / 1_000).toFixed(1)} s\n`);
    }
    return figures;
  });
}

async function withGround<T>(work: (ground: Ground) => Promise<T>): Promise<T> {
  const ground = await openGround();
  try {
    return await work(ground);
  } finally {
    await ground.close();
  }
}
