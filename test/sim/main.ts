/** `npm run sim`: random faults on virtual time, thousands of runs a minute; a seed replays its run to the byte. */
import { Worker } from "node:worker_threads";
import { Command, InvalidArgumentError } from "commander";
import { seedsMax, type Caught, type FoundViolation } from "./find.ts";
import { mutantNamed, mutants } from "./mutants/index.ts";
import type { Report, Task } from "./shard.ts";
import { simulate } from "./simulate.ts";
import { sqlFaultNamed, sqlFaults } from "./sql/faults.ts";
import { openVariants } from "./variants.ts";

interface Options {
  readonly sql?: boolean;
  readonly seeds?: number;
  readonly seed?: number;
  readonly mutant?: string;
  readonly mutants?: boolean;
  readonly workers: number;
  readonly trace?: boolean;
  readonly json?: boolean;
}

const count = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("must be a whole number from 1.");
  return Number(text);
};

const list = (bugs: readonly { name: string }[]): string => bugs.map((bug) => bug.name).join(", ");

const options: Options = new Command("sim")
  .description("Runs the real core on virtual time against faults chosen by a seed, and checks the invariants.")
  .option("--sql", "on a real Postgres in place of the reference store: slower, and sees every statement")
  .option("--seeds <n>", "how many seeds (default: 1000, with --sql 40)", count)
  .option("--seed <s>", "the first seed; with --trace the only one", count)
  .option(
    "--mutant <name>",
    `plants one bug and looks for it, seed after seed: ${list(mutants)}; with --sql: ${list(sqlFaults)}`,
  )
  .option(
    "--mutants",
    `plants each bug in turn; each must be found within ${seedsMax.mutant} seeds, with --sql ${seedsMax.fault}`,
  )
  .option("--workers <n>", "threads", count, 2)
  .option("--trace", "prints what one seed does, line by line")
  .option("--json", "one JSON object on stdout")
  .parse()
  .opts<Options>();

const sql = options.sql === true;
const seeds = options.seeds ?? (sql ? 40 : 1_000);
const from = options.seed ?? 1;
const bug =
  options.mutant === undefined ? null : (sql ? sqlFaultNamed(options.mutant) : mutantNamed(options.mutant)).name;
const say = (line: string): void => void (options.json ? process.stderr : process.stdout).write(`${line}\n`);
const bugs = options.mutants ? (sql ? sqlFaults : mutants).map(({ name }) => name) : bug === null ? [] : [bug];
process.exitCode = await (options.trace ? trace() : bugs.length > 0 ? plantAll(bugs) : run());

async function trace(): Promise<number> {
  const variants = await openVariants({ sql });
  const { violations, restedAtMs } = await simulate(from, { ...variants.of(bug), trace: say });
  await variants.close();
  for (const { invariant, detail } of violations) say(`${invariant} ${detail}`);
  say(`seed ${from}: ${violations.length} violations, at rest after ${restedAtMs / 1_000} s`);
  return violations.length === 0 ? 0 : 1;
}

/** Exits 0 when nothing was broken. */
async function run(): Promise<number> {
  const startedMs = performance.now();
  const to = from + seeds - 1;
  const done = Array.from({ length: options.workers }, () => 0);
  const tasks = done.map((_, n): Task => ({ is: "seeds", sql, from: from + n, to, step: options.workers }));
  const violations: FoundViolation[] = [];
  await Promise.all(
    tasks.map((task, n) =>
      shard(task, (report) => {
        if (report.is === "done") violations.push(...report.violations);
        else if (report.is === "progress") tell(done, n, report.done);
      }),
    ),
  );
  violations.sort((a, b) => a.seed - b.seed);
  for (const { seed, invariant, detail } of violations.slice(0, 50)) {
    say(`seed ${seed}: ${invariant} ${detail}   (npm run sim -- ${sql ? "--sql " : ""}--seed ${seed} --trace)`);
  }
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  say(`${seeds} seeds from ${from} in ${seconds} s: ${violations.length} violations`);
  const pass = violations.length === 0;
  answer({ pass, seeds, violations, mutants: [] });
  return pass ? 0 : 1;
}

function tell(done: number[], shardNumber: number, seedsDone: number): void {
  done[shardNumber] = seedsDone;
  const sum = done.reduce((a, b) => a + b, 0);
  if (sum % (sql ? 10 : 500) === 0) say(`${sum} of ${seeds} seeds`);
}

/** Each until the first seed that shows it. Exits 0 when all were found. */
async function plantAll(names: readonly string[]): Promise<number> {
  const found: Caught[] = [];
  const max = options.seeds ?? (sql ? seedsMax.fault : seedsMax.mutant);
  const tasks = Array.from({ length: Math.min(options.workers, names.length) }, (_, n): Task => {
    const share = names.filter((_name, index) => index % options.workers === n);
    return { is: "bugs", sql, names: share, from, max };
  });
  await Promise.all(
    tasks.map((task) =>
      shard(task, (report) => {
        if (report.is !== "caught") return;
        found.push(report.caught);
        const { name, caughtAtSeed, by } = report.caught;
        say(caughtAtSeed === null ? `${name}: NOT FOUND` : `${name}: found at seed ${caughtAtSeed} by ${by}`);
      }),
    ),
  );
  const pass = found.every((caught) => caught.caughtAtSeed !== null);
  const caught = found.map(({ name, caughtAtSeed }) => ({ name, caughtAtSeed }));
  answer({ pass, seeds: max, violations: [], mutants: caught });
  return pass ? 0 : 1;
}

function answer(result: object): void {
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
}

/** One thread. A thread that ends without its report is an error. */
function shard(task: Task, onReport: (report: Report) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./shard.ts", import.meta.url), { workerData: task });
    let isDone = false;
    worker.on("message", (report: Report) => {
      if (report.is === "done") isDone = true;
      onReport(report);
    });
    worker.on("error", reject);
    worker.on("exit", (code) =>
      isDone ? resolve() : reject(new Error(`a thread ended with code ${code} before it was done`)),
    );
  });
}
