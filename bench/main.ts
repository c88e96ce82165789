/** `npm run bench -- NAME... [--json]`: figures beside their roofs, or beside another commit. Exits 1 when a bar is missed. */
import { parseArgs } from "node:util";
import { comparable } from "./against/bars.ts";
import { compare } from "./against/compare.ts";
import { comparisonTable } from "./against/table.ts";
import { cases } from "./cases/index.ts";
import { cost } from "./cost/cost.ts";
import { costReport } from "./cost/report.ts";
import { openGround } from "./ground.ts";
import { growth } from "./growth/growth.ts";
import { growthTable } from "./growth/report.ts";
import { type Figure, rounds } from "./measure.ts";
import { lines, verdicts as judge } from "./peers/judge.ts";
import { peers } from "./peers/peers.ts";
import { peersTable } from "./peers/report.ts";
import { soakTable, soakVerdicts } from "./soak/report.ts";
import { jobsAMark, keptJobs, soak } from "./soak/soak.ts";
import { table } from "./table.ts";

const help = `npm run bench -- [NAME...] [--json] [--minutes N] [--against COMMIT]

Measures Belfry and, in turns with it, what the machine gives without Belfry (the roof). Medians of ${rounds} rounds; the
ratio is the median of the rounds' own ratios. Postgres is real, with durable commits. Without a name: all of them.

${cases.map(({ name, what }) => `  ${name.padEnd(11)} ${what}`).join("\n")}

Alone, because they need databases of their own: about four, ten and two minutes on two idle cores, and an hour for soak.

  growth      pages of every statement, route and screen at N and 10 N of all that is kept; above 1.3 x it fails
  peers       graphile-worker and pg-boss on the same server in turns: rates, pick-up, CPU, WAL, bytes kept
  cost        WAL, CPU, statements, time of connections, SQS calls, log and bytes kept a job, by kind of work: docs/scale.md
  soak        enqueues and works 10,000,000 jobs while as many leave: sizes, dead rows, WAL and times after each 100,000

  --jobs      how many the soak works, in hundred thousands; 10,000,000 without it
  --json      one JSON object on stdout: { pass, results: [{ name, value, unit, min, max, roof, ratio, bar, pass }] }
  --minutes   how long ontime goes on; 5 without it
  --size      a part of peers, cost, soak or each, above 0 and at most 1, which shows that it runs and not what is quick
  --against   beside another commit instead, on one server, round by round in turns: rate, Postgres CPU, WAL and statements
              a job, and the share of heap-only updates. For ${comparable.join(", ")}
  --help      this text

Exit code 0 when every bar is reached, 1 when one is missed, 2 for a wrong call.
`;

const aloneNames = ["growth", "peers", "cost", "soak"] as const;
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
  const { pass, json, text } = await resultOf(called);
  process.stdout.write(called.json ? `${JSON.stringify(json)}\n` : `${text()}\n`);
  return pass ? 0 : 1;
}

interface Result {
  readonly pass: boolean;
  readonly json: object;
  /** For people. */
  text(): string;
}

/** Progress goes to stderr, so that stdout holds the result only. */
function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function resultOf(called: Exclude<Called, { problem: string }>): Promise<Result> {
  const { alone, chosen, against, size, jobs, minutes } = called;
  if (against !== null) {
    const comparisons = await compare(
      chosen.map((each) => each.name),
      against,
    );
    const pass = comparisons.every((each) => each.pass);
    return { pass, json: { pass, comparisons }, text: () => comparisonTable(comparisons, against) };
  }
  const ground = await openGround();
  try {
    switch (alone) {
      case "growth": {
        const all = await growth(ground);
        const pass = all.every((line) => line.verdict !== "worse");
        return { pass, json: { pass, lines: all }, text: () => growthTable(all) };
      }
      case "peers": {
        const measured = await peers(ground, size, progress);
        const [all, verdicts] = [lines(measured), judge(measured)];
        const pass = verdicts.every((each) => each.pass);
        return { pass, json: { pass, lines: all, verdicts }, text: () => peersTable(all, verdicts) };
      }
      case "cost": {
        const costs = await cost(ground, size);
        return { pass: true, json: { costs }, text: () => costReport(costs) };
      }
      case "soak": {
        const plan = { jobs: jobs * size, kept: Math.round(keptJobs * size), jobsAMark };
        const marks = await soak(ground, plan, progress);
        const verdicts = soakVerdicts(marks);
        const pass = verdicts.every((each) => each.pass);
        return { pass, json: { pass, marks, verdicts }, text: () => soakTable(marks) };
      }
      default: {
        const figures: Figure[] = [];
        for (const each of chosen) {
          const startedMs = performance.now();
          figures.push(...(await each.run(ground, { minutes, size })));
          progress(`${each.name} took ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
        }
        const pass = figures.every((figure) => figure.pass);
        return { pass, json: { pass, results: figures }, text: () => table(figures) };
      }
    }
  } finally {
    await ground.close();
  }
}

type Called = ReturnType<typeof parse>;

function parse(args: readonly string[]) {
  try {
    const options = {
      json: { type: "boolean" },
      minutes: { type: "string" },
      size: { type: "string" },
      jobs: { type: "string" },
      against: { type: "string" },
      help: { type: "boolean", short: "h" },
    } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [first = ""] = positionals;
    const alone = positionals.length === 1 ? (aloneNames.find((name) => name === first) ?? null) : null;
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
    const { help: isHelp = false, json = false } = values;
    return { help: isHelp, json, minutes, size, jobs, chosen, against, alone };
  } catch (error) {
    return { problem: `${error instanceof Error ? error.message : String(error)}: see --help` };
  }
}
