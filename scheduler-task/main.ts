/** The scheduler task: what a wake starts on Fargate, and the local clock as a child process. */
import { hostname } from "node:os";
import { DatabaseUnavailable } from "../src/adapters/postgres/failure.ts";
import { readConfig } from "../src/config.ts";
import { type PassReport, runPasses } from "../src/core/pass.ts";
import { ProblemsFound } from "../src/core/problem.ts";
import { openRuntime } from "../src/runtime.ts";

const usage = `usage: scheduler-task/main.ts COMMAND
  pass               take the lock and make passes until the time is over or SIGTERM comes`;

/** Held is success: another task does the work. The lock outage is told apart, so that an alarm can watch it. */
const exitCodes = { done: 0, held: 0, "fence-lost": 0, failure: 1, usage: 2, "lock-outage": 3 } as const;

const later: Readonly<Record<string, string>> = {
  "run-job": 'comes with jobs on Fargate (runOn: "fargate")',
  "run-schedule": 'comes with schedules that have a rule of their own (launch: "rule")',
};

const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop.abort());
process.exitCode = await main(process.argv.slice(2));

async function main([command, ...rest]: readonly string[]): Promise<number> {
  if (command === "pass" && rest.length === 0) return passOrFail();
  const reason = later[command ?? ""];
  console.error(reason === undefined ? usage : `${command} is not there yet: it ${reason}`);
  return exitCodes.usage;
}

async function passOrFail(): Promise<number> {
  try {
    const report = await pass();
    console.log(JSON.stringify({ report: "pass", ...report }));
    if (report.outcome === "held") console.error(`held by ${report.heldBy}`);
    return exitCodes[report.outcome];
  } catch (error) {
    const isExplained = error instanceof ProblemsFound || error instanceof DatabaseUnavailable;
    console.error(isExplained ? error.message : error);
    return exitCodes.failure;
  }
}

async function pass(): Promise<PassReport> {
  const config = readConfig(process.env);
  const runtime = await openRuntime(config, { role: "scheduler" });
  try {
    await runtime.checkDatabase();
    return await runPasses(runtime.ports, runtime.registry, {
      owner: `${hostname()}:${process.pid}`,
      stage: config.stage.name,
      untilMs: config.passMs,
      onLockOutage: config.onLockOutage,
      lookAheadMs: config.lookAheadMs,
      lockLeaseMs: config.lockLeaseMs,
      signal: stop.signal,
    });
  } finally {
    await runtime.close();
  }
}
