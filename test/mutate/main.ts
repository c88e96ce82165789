/** `npm run mutate`: changes every statement, one small change at a time, and runs the tests that send it. */
import { Command, InvalidArgumentError } from "commander";
import { Killers } from "./choose.ts";
import { commitNow, cover, git, outdated } from "./cover.ts";
import { type Database, openDatabase } from "./database.ts";
import { checkPlanting, type Court, judge } from "./judge.ts";
import {
  type Coverage,
  hitsFile,
  keepFound,
  keptAlone,
  keptCoverage,
  keptFound,
  keptReasons,
  type Verdict,
} from "./kept.ts";
import { addToLedger, type Judged, readLedger } from "./ledger.ts";
import { changeOf, describeMutant, type Mutant, placeOf } from "./mutant.ts";
import { changesOf, mutatedFiles } from "./places.ts";
import { report } from "./report.ts";
import { openSessions, type Sessions } from "./sessions.ts";
import { statementTexts } from "./statements.ts";
import { judgeWatched } from "./watched/judge.ts";

interface Options {
  readonly all?: boolean;
  readonly since?: string;
  readonly file?: string;
  readonly key?: string;
  readonly sample?: number;
  readonly minutes?: number;
  readonly sessions: number;
  readonly cover?: boolean;
  readonly again?: boolean;
  readonly survivors?: boolean;
  readonly whole?: boolean;
  readonly quick?: boolean;
  readonly report?: boolean;
  readonly list?: boolean;
}

const count = (text: string): number => {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError("must be a whole number from 1.");
  return Number(text);
};

const program = new Command("mutate")
  .description(
    "Changes SQL, one small change at a time, and runs the tests that send it. What survives is a hole in the tests.",
  )
  .option("--all", "every mutant: hours; it goes on where the last run stopped")
  .option("--since <commit>", "mutants of the files that changed since a commit")
  .option("--file <part>", "mutants of the files whose path contains this")
  .option("--key <key>", "one mutant")
  .option("--sample <n>", "this many, spread over all of the chosen", count)
  .option("--minutes <n>", "stops after this time; the next run goes on", count)
  .option("--sessions <n>", "this many test processes side by side: one for each core that is free", count, 1)
  .option("--cover", "measures again which tests reach what, of all tests and not only of those that changed")
  .option("--again", "judges again what an earlier run has judged")
  .option("--survivors", "judges again those that survived, and no others")
  .option(
    "--whole",
    "asks all tests that reach a mutant, one mutant at a time, and not only those of some seconds that likely find it",
  )
  .option("--quick", "judges under the watcher alone, and plants none: what only that finds stays unjudged")
  .option("--report", "judges nothing: what .mutate/judged.txt knows of the chosen")
  .option("--list", "prints the chosen mutants, and what is known of each, and runs nothing")
  .parse();
const options = program.opts<Options>();
const say = (line: string): void => void process.stderr.write(`${line}\n`);

let isCovering = false;
let recorded = 0;
const commit = commitNow();
const everyChange = mutatedFiles().flatMap(changesOf);
const everyMutant = everyChange.flatMap(({ mutant, rule }) => (rule === null ? [mutant] : []));
for (const [rule, changes] of Map.groupBy(everyChange, (change) => change.rule))
  if (rule !== null) say(`left out by rule: ${changes.length} ${rule}`);
const everyKey = new Set(everyMutant.map(({ key }) => key));
let ledger = readLedger();
const chosen = choose();
if (options.list === true) {
  for (const mutant of chosen)
    process.stdout.write(`${mutant.key} ${ledger.get(mutant.key)?.is ?? "-"} ${describeMutant(mutant)}\n`);
} else {
  if (options.report !== true) await run();
  process.exitCode = tell();
}

function choose(): Mutant[] {
  const { all, since, file, key, sample, report: isReport } = options;
  if ([all, since, file, key, sample, isReport].every((option) => option === undefined))
    program.error("say what to change: --all, --since COMMIT, --file PART, --key KEY or --sample N");
  const changed = since === undefined ? null : new Set(git("diff", "--name-only", since).split("\n"));
  // Keys are hashes: their order is random and the same each time, so that each run adds a fair sample.
  return everyMutant
    .filter((mutant) => (changed?.has(mutant.file) ?? true) && mutant.file.includes(file ?? ""))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .filter((mutant) => key === undefined || mutant.key === key)
    .slice(0, sample ?? everyMutant.length);
}

/** What this run judges: of the chosen those that were not, or the part that is to be judged again. */
function toJudge(): readonly Mutant[] {
  const are = (...kinds: Judged["is"][]): Mutant[] =>
    chosen.filter(({ key }) => kinds.some((kind) => ledger.get(key)?.is === kind));
  if (options.survivors === true) return are("survived", "unreached");
  return options.again === true ? chosen : chosen.filter(({ key }) => !ledger.has(key));
}

function tell(): number {
  const known = ledger;
  const oldest = (commits: readonly string[]): string =>
    git("rev-list", "HEAD")
      .split("\n")
      .findLast((hash) => commits.includes(hash.slice(0, 8)))
      ?.slice(0, 8) ?? "none";
  return report({ chosen, ledger: known, reasons: keptReasons(), oldest });
}

async function run(): Promise<void> {
  const database = await openDatabase();
  let ran = 0;
  const session = (): Sessions =>
    openSessions(database.url, hitsFile(), (file) => {
      ran += 1;
      if (process.stderr.isTTY && isCovering) say(`${ran} ${file}`);
    });
  const sideBySide = Array.from({ length: options.sessions }, session);
  const close = async (): Promise<void> => {
    await Promise.all(sideBySide.map((one) => one.close()));
    await database.close();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void close().then(() => process.exit(130)));
  try {
    const endMs = performance.now() + (options.minutes ?? Infinity) * 60_000;
    const all = toJudge();
    say(`${chosen.length} mutants, ${all.length} to judge`);
    const first = sideBySide[0] ?? session();
    const open = await watchedFirst(all);
    if (options.quick === true || open.length === 0) return;
    const coverage = await covered(options.cover === true ? null : keptCoverage(), first);
    const court = await convene(database, first, coverage);
    const queue = open.entries();
    const judgeOn = async (sessions: Sessions): Promise<void> => {
      for (const [at, mutant] of queue) {
        if (performance.now() > endMs) return;
        const verdict = await judge(mutant, { ...court, sessions });
        record(mutant, verdict, `${at + 1}/${open.length}`);
        if (verdict.by !== null) court.found.add(mutant, verdict.by);
      }
    };
    await Promise.all(sideBySide.map(judgeOn));
  } finally {
    await close();
  }
}

/** What plants each mutant by itself is asked for by name, or to see whether it agrees with the quick ways. */
function isPlanted(): boolean {
  return options.whole === true || options.key !== undefined;
}

/** All under the watcher: what makes no difference there goes on. */
async function watchedFirst(all: readonly Mutant[]): Promise<readonly Mutant[]> {
  if (isPlanted() || all.length === 0) return all;
  say(`${all.length} mutants are tried under the watcher`);
  const byKey = new Map(all.map((mutant) => [mutant.key, mutant]));
  const left = await judgeWatched(all, {
    onVerdict(verdict) {
      const mutant = byKey.get(verdict.key);
      if (mutant !== undefined) record(mutant, verdict, "watched");
    },
  });
  // Why they make no difference was looked into: no test is asked.
  const reasons = keptReasons();
  const isExplained = (mutant: Mutant): boolean => reasons[placeOf(mutant)]?.[changeOf(mutant)] !== undefined;
  const explained = left.filter(isExplained);
  for (const mutant of explained)
    record(mutant, { key: mutant.key, is: "survived", by: null, tests: 0, ms: 0 }, "watched");
  say(`${all.length - left.length} were found by the watcher, ${explained.length} have a reason`);
  return left.filter((mutant) => !isExplained(mutant));
}

function record(mutant: Mutant, { is, by, ms }: Verdict, how: string): void {
  ledger = addToLedger(new Map([[mutant.key, { is, commit }]]), everyKey);
  if (by !== null) keepFound({ key: mutant.key, by });
  recorded += 1;
  const line = `${how} ${is} ${(ms / 1_000).toFixed(1)} s ${describeMutant(mutant)}`;
  if (process.stderr.isTTY || is === "survived" || is === "unreached" || recorded % 25 === 0) say(line);
}

function foundBefore(): Killers {
  const kept = keptFound();
  const found = new Killers();
  for (const mutant of everyMutant) {
    const by = kept.get(mutant.key);
    if (by !== undefined) found.add(mutant, by);
  }
  return found;
}

async function convene(database: Database, sessions: Sessions, coverage: Coverage): Promise<Court> {
  await checkPlanting(sessions);
  const texts = await statementTexts(null);
  if (texts === null || Object.keys(texts).length === 0) throw new Error("the statements do not load");
  const testMsMax = options.whole === true ? Infinity : 8_000;
  return {
    database,
    sessions,
    coverage,
    found: foundBefore(),
    alone: keptAlone(),
    isWatched: !isPlanted(),
    testMsMax,
    texts,
  };
}

/** Measures every test, or those that changed since they were measured. */
async function covered(kept: Coverage | null, sessions: Sessions): Promise<Coverage> {
  const files = kept === null ? [] : outdated(kept);
  if (kept !== null && files.length === 0) return kept;
  say(kept === null ? "runs every test once, to see what it reaches" : `measures ${files.length} test files again`);
  isCovering = true;
  const { coverage, failed } = await cover(sessions, kept === null ? null : { kept, files });
  isCovering = false;
  if (failed.length > 0) say(`left out, because they fail without a mutant: ${failed.join(", ")}`);
  return coverage;
}
