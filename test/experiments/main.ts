/** `npm run experiments -- [NAME...]`: what the authors of the five systems tried, on a system that runs. */
import Table from "cli-table3";
import { Command, InvalidArgumentError } from "commander";
import { type Check, timed } from "../demo/judge.ts";
import { twoAtOnce } from "./batch-scheduler.ts";
import { workerDies } from "./daily-quiz.ts";
import type { Experiment } from "./experiment.ts";
import { load } from "./load.ts";
import { newVersion } from "./new-version.ts";
import { findSystem, type RunningSystem } from "./running.ts";
import { mix, sameKey, workersKilled } from "./taskflow.ts";
import { mailHangs } from "./time-capsule.ts";

/** In the order in which they run. */
const catalog = [twoAtOnce, sameKey, mix, workersKilled, workerDies, newVersion, mailHangs, load] as const;

interface Options {
  readonly url?: string;
  readonly home?: string;
  readonly rate: number;
  readonly seconds: number;
  readonly inFlight: number;
  readonly json: boolean;
}

interface Result {
  readonly name: string;
  readonly verdict: "pass" | "slow" | "broken";
  readonly seconds: number;
  readonly checks: readonly Check[];
}

const exitCodes = { pass: 0, broken: 1, slow: 3 } as const;

await new Command("experiments")
  .description(
    "Tries on a system of `npm start -- --examples` what the authors of the five systems tried on theirs. Exits 1 when a promise is broken, 3 when this machine was too slow to show it.",
  )
  .argument("[name...]", "of the experiments below; all without the load", known, [])
  .option("--url <url>", "of the API, in place of the one that the system has written down")
  .option("--home <folder>", "the state folder of the system: BELFRY_HOME, or .belfry")
  .option("--rate <n>", "requests a second of taskflow-load", positive, 20)
  .option("--seconds <n>", "how long taskflow-load goes on", positive, 60)
  .option("--in-flight <n>", "requests of taskflow-load without an answer at most; the next ones wait", positive, 200)
  .option("--json", "one JSON object on stdout; progress goes to stderr", false)
  .addHelpText("after", `\nExperiments:\n${catalog.map(describe).join("\n")}`)
  .action(main)
  .parseAsync();

async function main(names: readonly string[], options: Options): Promise<void> {
  const chosen = catalog.filter(({ name }) => (names.length === 0 ? name !== "taskflow-load" : names.includes(name)));
  const system = findSystem(options);
  const results: Result[] = [];
  for (const experiment of chosen) results.push(await run(experiment, system, options));
  await system.evidence.db.end();
  const worst =
    (["broken", "slow"] as const).find((verdict) => results.some((one) => one.verdict === verdict)) ?? "pass";
  console.log(options.json ? JSON.stringify({ verdict: worst, experiments: results }) : table(results));
  process.exitCode = exitCodes[worst];
}

async function run(
  experiment: Experiment,
  system: RunningSystem,
  { rate, seconds, inFlight }: Options,
): Promise<Result> {
  const beganMs = performance.now();
  const say = (text: string): void => console.error(`${experiment.name}: ${text}`);
  say(experiment.about);
  const checks: readonly Check[] = await experiment
    .run(system, { rate, seconds, inFlight, say })
    .catch((error: unknown) => {
      const detail = error instanceof Error ? error.message : String(error);
      // A system that does not take a connection is away or too busy: nothing was seen broken.
      const end = { name: "it comes to its end", pass: false, detail };
      return [detail === "fetch failed" ? timed(end) : end];
    });
  const failed = checks.filter(({ pass }) => !pass);
  const verdict = failed.length === 0 ? "pass" : failed.every((check) => check.isTimed === true) ? "slow" : "broken";
  return { name: experiment.name, verdict, seconds: Math.round((performance.now() - beganMs) / 1_000), checks };
}

function known(name: string, before: readonly string[]): readonly string[] {
  if (catalog.some((one) => one.name === name)) return [...before, name];
  throw new InvalidArgumentError(`There is no experiment "${name}": use ${catalog.map((one) => one.name).join(", ")}.`);
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError("It must be a number above 0.");
  return value;
}

function describe({ name, about, proof }: Experiment): string {
  return `  ${name.padEnd(28)}${about} [without its guard: npm run proof -- ${proof} --without]`;
}

function table(results: readonly Result[]): string {
  const out = new Table({
    head: ["experiment", "", "claim", "figure"],
    colWidths: [18, 8, 48, Math.max(40, (process.stdout.columns ?? 140) - 80)],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const { name, checks } of results)
    for (const { name: claim, pass, isTimed, detail } of checks)
      out.push([name, pass ? "pass" : isTimed === true ? "slow" : "FAIL", claim, detail]);
  return out.toString();
}
