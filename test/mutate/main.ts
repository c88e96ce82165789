/** `npm run mutate`: changes every statement and every decision, one small change at a time, and runs the tests that reach it. */
import { execFileSync } from "node:child_process";
import { Command, InvalidArgumentError } from "commander";
import { Killers } from "./choose.ts";
import { cover } from "./cover.ts";
import { openDatabase } from "./database.ts";
import { type Court, judge } from "./judge.ts";
import { accepted, hitsFile, keepVerdict, keptCoverage, keptVerdicts } from "./kept.ts";
import { describeMutant, type Mutant } from "./mutant.ts";
import { mutantsOf, mutatedFiles } from "./places.ts";
import { report } from "./report.ts";
import { openSessions } from "./sessions.ts";
import { statementTexts } from "./statements.ts";

interface Options {
  readonly all?: boolean;
  readonly since?: string;
  readonly file?: string;
  readonly key?: string;
  readonly sample?: number;
  readonly shard?: readonly [number, number];
  readonly minutes?: number;
  readonly cover?: boolean;
  readonly again?: boolean;
  readonly list?: boolean;
  readonly json?: boolean;
}

const count = (text: string): number => {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError("must be a whole number from 1.");
  return Number(text);
};

const shardOf = (text: string): [number, number] => {
  const [, n, of] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  if (Number(n) < 1 || Number(n) > Number(of)) throw new InvalidArgumentError("must be N/OF, for example 1/4.");
  return [Number(n), Number(of)];
};

const program = new Command("mutate")
  .description(
    "Changes SQL and core, one small change at a time, and runs the tests that reach it. What survives is a hole in the tests.",
  )
  .option("--all", "every mutant: hours; it goes on where the last run stopped")
  .option("--since <commit>", "mutants of the files that changed since a commit")
  .option("--file <part>", "mutants of the files whose path contains this")
  .option("--key <key>", "one mutant")
  .option("--sample <n>", "this many, spread over all of the chosen", count)
  .option("--shard <n/of>", "one part of the chosen, for several machines", shardOf)
  .option("--minutes <n>", "stops after this time; the next run goes on", count)
  .option("--cover", "measures again which tests reach what")
  .option("--again", "judges again what an earlier run has judged")
  .option("--list", "prints the chosen mutants and runs nothing")
  .option("--json", "one JSON object on stdout")
  .parse();
const options = program.opts<Options>();
const say = (line: string): void => void process.stderr.write(`${line}\n`);

let isCovering = false;
const chosen = choose();
if (options.list === true)
  for (const mutant of chosen) process.stdout.write(`${mutant.key} ${describeMutant(mutant)}\n`);
else process.exitCode = await run();

function choose(): Mutant[] {
  const { all, since, file, key, sample } = options;
  if (all !== true && since === undefined && file === undefined && key === undefined && sample === undefined)
    program.error("say what to change: --all, --since COMMIT, --file PART, --key KEY or --sample N");
  const changed = since === undefined ? null : new Set(git("diff", "--name-only", since).split("\n"));
  const files = mutatedFiles().filter((name) => (changed?.has(name) ?? true) && name.includes(file ?? ""));
  // Keys are hashes: their order is random, and the same each time.
  const mutants = files.flatMap(mutantsOf).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const [n, of] = options.shard ?? [1, 1];
  return mutants
    .filter((mutant, index) => (key === undefined || mutant.key === key) && index % of === n - 1)
    .slice(0, sample ?? mutants.length);
}

function git(...args: string[]): string {
  return execFileSync("git", args, { encoding: "utf8" });
}

async function run(): Promise<number> {
  const database = await openDatabase();
  let ran = 0;
  const sessions = openSessions(database.url, hitsFile(), (file) => {
    ran += 1;
    if (process.stderr.isTTY && isCovering) say(`${ran} ${file}`);
  });
  const close = async (): Promise<void> => {
    await sessions.close();
    await database.close();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void close().then(() => process.exit(130)));
  const verdicts = keptVerdicts();
  try {
    const court = await convene(database, sessions);
    if (court === null) return 1;
    for (const mutant of chosen) {
      const verdict = verdicts.get(mutant.key);
      if (verdict !== undefined) court.found.add(mutant, verdict);
    }
    const isDone = ({ key }: Mutant): boolean => options.again !== true && verdicts.has(key);
    // By place: what found the last mutant of a text is asked first about the next.
    const open = chosen
      .filter((mutant) => !isDone(mutant))
      .toSorted((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.start - b.start));
    const endMs = performance.now() + (options.minutes ?? Infinity) * 60_000;
    say(`${chosen.length} mutants, ${open.length} to judge`);
    for (const [index, mutant] of open.entries()) {
      if (performance.now() > endMs) break;
      const verdict = await judge(mutant, court);
      keepVerdict(verdict);
      verdicts.set(mutant.key, verdict);
      court.found.add(mutant, verdict);
      const line = `${index + 1}/${open.length} ${verdict.is} ${(verdict.ms / 1_000).toFixed(1)} s ${describeMutant(mutant)}`;
      if (process.stderr.isTTY || verdict.is === "survived" || verdict.is === "unreached" || index % 25 === 24)
        say(line);
    }
  } finally {
    await close();
  }
  const everyKey = new Set(
    mutatedFiles()
      .flatMap(mutantsOf)
      .map(({ key }) => key),
  );
  return report({ chosen, verdicts, accepted: accepted(), everyKey, json: options.json === true });
}

async function convene(database: Court["database"], sessions: Court["sessions"]): Promise<Court | null> {
  const kept = options.cover === true ? null : keptCoverage();
  if (kept === null) say("runs every test once, to see what it reaches");
  isCovering = kept === null;
  const { coverage, failed } = kept === null ? await cover(sessions) : { coverage: kept, failed: [] };
  if (failed.length > 0) say(`left out, because they fail without a mutant: ${failed.join(", ")}`);
  isCovering = false;
  const texts = await statementTexts(null);
  if (texts === null) {
    say("the statements do not load");
    return null;
  }
  return { database, sessions, coverage, found: new Killers(), texts };
}
