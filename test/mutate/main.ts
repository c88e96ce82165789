/** `npm run mutate`: changes every statement and every decision, one small change at a time, and runs the tests that reach it. */
import { Command, InvalidArgumentError } from "commander";
import { Killers } from "./choose.ts";
import { commitNow, cover, git, outdated } from "./cover.ts";
import { type Database, openDatabase } from "./database.ts";
import { checkPlanting, type Court, judge } from "./judge.ts";
import {
  accepted,
  type Coverage,
  hitsFile,
  keepFound,
  keptAlone,
  keptCoverage,
  keptFound,
  type Verdict,
} from "./kept.ts";
import { addToLedger, type Judged, readLedger } from "./ledger.ts";
import { describeMutant, type Mutant } from "./mutant.ts";
import { changesOf, mutatedFiles } from "./places.ts";
import { report } from "./report.ts";
import { openSessions, type Sessions } from "./sessions.ts";
import { statementTexts } from "./statements.ts";
import { judgeSwitched } from "./switched/judge.ts";
import { stages } from "./switched/stages.ts";
import { judgeToured } from "./tour/judge.ts";

interface Options {
  readonly all?: boolean;
  readonly since?: string;
  readonly file?: string;
  readonly key?: string;
  readonly sample?: number;
  readonly shard?: readonly [number, number];
  readonly minutes?: number;
  readonly sessions: number;
  readonly cover?: boolean;
  readonly again?: boolean;
  readonly survivors?: boolean;
  readonly whole?: boolean;
  readonly quick?: boolean;
  readonly recheck?: number;
  readonly report?: boolean;
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
  .option("--sessions <n>", "this many test processes side by side: one for each core that is free", count, 1)
  .option("--cover", "measures again which tests reach what, of all tests and not only of those that changed")
  .option("--again", "judges again what an earlier run has judged")
  .option("--survivors", "judges again those that survived, and no others")
  .option(
    "--whole",
    "asks all tests that reach a mutant, one mutant at a time, and not only those of some seconds that likely find it",
  )
  .option("--quick", "judges in the tours and by switching alone, and plants none: what only that finds stays unjudged")
  .option("--recheck <n>", "judges again this many that were found, by random choice: have tests been weakened?", count)
  .option("--report", "judges nothing: what test/mutate/judged.txt knows of the chosen")
  .option("--list", "prints the chosen mutants, and what is known of each, and runs nothing")
  .option("--json", "one JSON object on stdout")
  .parse();
const options = program.opts<Options>();
const say = (line: string): void => void process.stderr.write(`${line}\n`);

let isCovering = false;
let recorded = 0;
/** Keys that were found once and survive now. */
const weakened = new Set<string>();
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
  process.exitCode = Math.max(tell(), Math.min(1, weakened.size));
}

function choose(): Mutant[] {
  const { all, since, file, key, sample, recheck, report: isReport } = options;
  if ([all, since, file, key, sample, recheck, isReport].every((option) => option === undefined))
    program.error("say what to change: --all, --since COMMIT, --file PART, --key KEY, --sample N or --recheck N");
  const changed = since === undefined ? null : new Set(git("diff", "--name-only", since).split("\n"));
  const [n, of] = options.shard ?? [1, 1];
  // Keys are hashes: their order is random and the same each time, so that each run adds a fair sample.
  return everyMutant
    .filter((mutant) => (changed?.has(mutant.file) ?? true) && mutant.file.includes(file ?? ""))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .filter((mutant, index) => (key === undefined || mutant.key === key) && index % of === n - 1)
    .slice(0, sample ?? everyMutant.length);
}

/** What this run judges: of the chosen those that were not, or the part that is to be judged again. */
function toJudge(): readonly Mutant[] {
  const are = (...kinds: Judged["is"][]): Mutant[] =>
    chosen.filter(({ key }) => kinds.some((kind) => ledger.get(key)?.is === kind));
  if (options.recheck !== undefined) return shuffled(are("killed")).slice(0, options.recheck);
  if (options.survivors === true) return are("survived", "unreached");
  return options.again === true ? chosen : chosen.filter(({ key }) => !ledger.has(key));
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((value) => ({ value, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

function tell(): number {
  const known = ledger;
  const oldest = (commits: readonly string[]): string =>
    git("rev-list", "HEAD")
      .split("\n")
      .findLast((hash) => commits.includes(hash.slice(0, 8)))
      ?.slice(0, 8) ?? "none";
  return report({ chosen, ledger: known, accepted: accepted(), everyKey, oldest, json: options.json === true });
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
    const afterTours = await touredFirst(all);
    if (options.quick === true && afterTours.every(isOfSql)) return;
    const coverage = await covered(options.cover === true ? null : keptCoverage(), first);
    const open = await switchedFirst(afterTours, coverage, { url: database.url, endMs });
    if (open.length === 0) return;
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
  return options.whole === true || options.key !== undefined || options.recheck !== undefined;
}

/** Mutants of statements, in the tours: what makes no difference there goes on. */
async function touredFirst(all: readonly Mutant[]): Promise<readonly Mutant[]> {
  const ofSql = all.filter(isOfSql);
  if (isPlanted() || ofSql.length === 0) return all;
  say(`${ofSql.length} mutants of statements are tried in the tours`);
  const byKey = new Map(ofSql.map((mutant) => [mutant.key, mutant]));
  const left = await judgeToured(ofSql, {
    onVerdict(verdict) {
      const mutant = byKey.get(verdict.key);
      if (mutant !== undefined) record(mutant, verdict, "in a tour");
    },
  });
  // Why they make no difference was looked into: no test is asked.
  const reasons = new Set(accepted().map(({ key }) => key));
  const [explained, open] = [left.filter(({ key }) => reasons.has(key)), left.filter(({ key }) => !reasons.has(key))];
  for (const mutant of explained)
    record(mutant, { key: mutant.key, is: "survived", by: null, tests: 0, ms: 0 }, "in no tour");
  say(`${ofSql.length - left.length} were found in the tours, ${explained.length} have a reason`);
  return [...open, ...all.filter((mutant) => !isOfSql(mutant))];
}

/** Mutants of the core in modules that contain them all; those that it cannot judge, and all others, one at a time. */
async function switchedFirst(
  all: readonly Mutant[],
  coverage: Coverage,
  { url, endMs }: { readonly url: string; readonly endMs: number },
): Promise<readonly Mutant[]> {
  if (isPlanted()) return all;
  const [ofSql, ofCore] = [all.filter(isOfSql), all.filter((mutant) => !isOfSql(mutant))];
  if (ofCore.length === 0) return all;
  const byKey = new Map(ofCore.map((mutant) => [mutant.key, mutant]));
  const left = await judgeSwitched(ofCore, {
    coverage,
    found: foundBefore(),
    stages: stages(),
    env: { DATABASE_URL: url },
    say,
    endMs,
    onVerdict(verdict) {
      const mutant = byKey.get(verdict.key);
      if (mutant !== undefined) record(mutant, verdict, "switched");
    },
  });
  say(
    `${ofCore.length - left.length} mutants were switched, ${left.length + ofSql.length} have to be planted one at a time`,
  );
  return options.quick === true ? [] : [...left, ...ofSql];
}

function isOfSql({ file }: Mutant): boolean {
  return file.includes("/sql/");
}

function record(mutant: Mutant, { is, by, ms }: Verdict, how: string): void {
  const isWeaker = ledger.get(mutant.key)?.is === "killed" && (is === "survived" || is === "unreached");
  if (isWeaker) weakened.add(mutant.key);
  ledger = addToLedger(new Map([[mutant.key, { is, commit }]]), everyKey);
  if (by !== null) keepFound({ key: mutant.key, by });
  recorded += 1;
  const line = `${how} ${is}${isWeaker ? ", and was killed once" : ""} ${(ms / 1_000).toFixed(1)} s ${describeMutant(mutant)}`;
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
  return { database, sessions, coverage, found: foundBefore(), alone: keptAlone(), testMsMax, texts };
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
