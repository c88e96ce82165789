/** `npm run proof -- CASE...`: real processes, a real Postgres, real APIs, injected faults. */
import "./asked.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Table from "cli-table3";
import { Command, InvalidArgumentError } from "commander";
import { startPostgres } from "../../src/local/services/postgres.ts";
import { proofs } from "./catalog.ts";
import { Checklist, type Proof, type ProofContext, type Verdict } from "./proof.ts";
import { stopSystems } from "./system.ts";
import { elapsedMs } from "./until.ts";

interface Options {
  readonly rounds: number;
  readonly minutes?: number;
  readonly dir?: string;
  readonly scale?: number;
  readonly size: number;
  readonly seed: number;
  readonly defaults: boolean;
  readonly without?: string;
  readonly json: boolean;
  readonly keep: boolean;
}

interface CaseResult extends Verdict {
  readonly name: string;
  readonly rounds: number;
  readonly seconds: number;
}

const minutesMaxDefault = 10;
/** What a case under load may need beside its faults, for each unit of size or for the minutes asked for. */
const reserveMinutes = 15;

const command = new Command("proof")
  .description("Real processes, a real Postgres, real APIs, injected faults. Exits 1 when a case does not hold.")
  .argument("<case...>", "one or more of the cases below, or all", knownCase, [])
  .option("--rounds <n>", "how often each case is run", positive, 1)
  .option(
    "--minutes <n>",
    "goes on for this long: a case under load with its faults, every other with rounds",
    positive,
  )
  .option("--dir <folder>", "input of the cases that read a folder")
  .option("--scale <x>", "seconds of the system per second of the machine, for the cases that wait", positive)
  .option("--size <x>", "multiplies the amount of work", positive, 1)
  .option("--seed <n>", "replays the harness's own random choices", positive, 1)
  .option("--defaults", "real leases and timeouts instead of short ones", false)
  .option("--without <guard>", "takes one guard away: the case must fail then")
  .option("--json", "one JSON object on stdout; progress goes to stderr", false)
  .option("--keep", "keeps the folder with logs and ledgers, and prints its name", false)
  .addHelpText("after", `\nCases:\n${proofs.map(describe).join("\n")}`)
  .action(main);
await command.parseAsync();
// A case that was cut off may have left something open.
process.exit();

async function main(names: readonly string[], options: Options): Promise<void> {
  const chosen = names.includes("all") ? proofs : proofs.filter((proof) => names.includes(proof.name));
  checkGuard(chosen, options.without);
  const folder = mkdtempSync(join(tmpdir(), "belfry-proof-"));
  const results: CaseResult[] = [];
  const postgres = await startPostgres({
    folder: join(folder, "postgres"),
    port: 0,
    settings: { track_commit_timestamp: "on", max_connections: "400" },
  });
  watch(folder, postgres.pid, options.keep);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stopSystems().finally(() => process.exit(130)));
  }
  try {
    for (const proof of chosen) {
      results.push(await runCase(proof, options, { folder, postgresUrl: postgres.url }));
    }
  } finally {
    await postgres.stop("immediate");
    if (options.keep) process.stderr.write(`kept: ${folder}\n`);
    else rmSync(folder, { recursive: true, force: true });
  }
  const pass = results.every((result) => result.pass);
  if (options.json) process.stdout.write(`${JSON.stringify({ pass, cases: results })}\n`);
  else process.stdout.write(`${table(results)}\n`);
  process.exitCode = pass ? 0 : 1;
}

/** Whatever ends this process, what it started ends soon after it. */
function watch(folder: string, postgresPid: number, keep: boolean): void {
  const program = fileURLToPath(new URL("./watchdog.ts", import.meta.url));
  const args = [program, folder, String(postgresPid), ...(keep ? ["keep"] : [])];
  spawn(process.execPath, args, { stdio: ["pipe", "ignore", "ignore"], detached: true }).unref();
}

async function runCase(
  proof: Proof,
  options: Options,
  parts: { folder: string; postgresUrl: string },
): Promise<CaseResult> {
  const startedMs = elapsedMs();
  const verdicts: Verdict[] = [];
  const minutesRun = (): number => (elapsedMs() - startedMs) / 60_000;
  const repeats = proof.isUnderLoad !== true && options.minutes !== undefined;
  const goesOn = (round: number): boolean =>
    round < options.rounds || (repeats && minutesRun() < (options.minutes ?? 0) && (verdicts.at(-1)?.pass ?? false));
  for (let round = 0; goesOn(round); round += 1) {
    const of = repeats ? `, ${minutesRun().toFixed(0)} of ${options.minutes} minutes` : `/${options.rounds}`;
    const label = options.rounds === 1 && !repeats ? proof.name : `${proof.name} ${round + 1}${of}`;
    const log = (text: string): void => void process.stderr.write(`${label}: ${text}\n`);
    log(proof.about);
    const verdict = await bounded(proof, {
      round,
      seed: options.seed + round,
      scale: options.scale ?? null,
      size: options.size,
      minutes: options.minutes ?? null,
      defaults: options.defaults,
      without: options.without ?? null,
      dir: options.dir ?? null,
      folder: join(parts.folder, `${proof.name}-${round}`),
      postgresUrl: parts.postgresUrl,
      log,
    });
    log(`${verdict.isSkipped ? "SKIPPED" : verdict.pass ? "holds" : "DOES NOT HOLD"} · ${verdict.detail}`);
    verdicts.push(verdict);
  }
  const failed = verdicts.find((verdict) => !verdict.pass);
  const shown = failed ?? verdicts.at(-1) ?? { pass: false, detail: "not run" };
  const seconds = Math.round((elapsedMs() - startedMs) / 100) / 10;
  const { detail, isSkipped = false } = shown;
  return { name: proof.name, rounds: verdicts.length, pass: failed === undefined, isSkipped, detail, seconds };
}

/** A case that does not end is one that does not hold. What it started is stopped. */
async function bounded(proof: Proof, context: ProofContext): Promise<Verdict> {
  let timer: NodeJS.Timeout | undefined;
  const { minutesMax: usual = minutesMaxDefault, isUnderLoad = false } = proof;
  const whole = usual * Math.max(1, context.size);
  const minutesMax = isUnderLoad ? (context.minutes ?? whole) + reserveMinutes : whole;
  const late = new Promise<Verdict>((resolve) => {
    timer = setTimeout(
      () => resolve({ pass: false, detail: `did not end within ${minutesMax} minutes` }),
      minutesMax * 60_000,
    );
  });
  try {
    const list = new Checklist();
    return await Promise.race([proof.run(context, list).then((verdict) => verdict ?? list.verdict()), late]);
  } catch (error) {
    return { pass: false, detail: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  } finally {
    clearTimeout(timer);
    await stopSystems();
  }
}

function checkGuard(chosen: readonly Proof[], guard: string | undefined): void {
  if (guard === undefined) return;
  const known = chosen.flatMap((proof) => proof.guards ?? []);
  if (known.includes(guard)) return;
  command.error(`error: --without ${guard}: the chosen cases can do without ${known.join(", ") || "nothing"}`);
}

function knownCase(name: string, before: readonly string[]): readonly string[] {
  if (name !== "all" && !proofs.some((proof) => proof.name === name)) {
    throw new InvalidArgumentError(
      `There is no case "${name}": use all, ${proofs.map((proof) => proof.name).join(", ")}.`,
    );
  }
  return [...before, name];
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError("It must be a number above 0.");
  return value;
}

function describe({ name, about, guards }: Proof): string {
  const without = guards === undefined ? "" : ` [--without ${guards.join(" | ")}]`;
  return `  ${name.padEnd(18)}${about}${without}`;
}

function table(results: readonly CaseResult[]): string {
  const wide = Math.max(40, (process.stdout.columns ?? 140) - 48);
  const out = new Table({
    head: ["case", "rounds", "seconds", "holds", "detail"],
    colWidths: [18, 8, 9, 9, wide],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const { name, rounds, seconds, pass, isSkipped, detail } of results)
    out.push([name, rounds, seconds, isSkipped ? "skipped" : pass ? "yes" : "NO", detail]);
  return out.toString();
}
