/** The scheduler task: what a wake starts on Fargate, and the local clock as a child process. */
import type { JobId } from "../src/machine/job.ts";
import { pass, serve } from "./pass.ts";
import { exitCodes, printFailure } from "./report.ts";
import { runTry } from "./run-job.ts";
import { runScheduleById } from "./run-schedule.ts";

const usage = `usage: scheduler-task/main COMMAND
  pass               take the lock and make passes until the time is over or SIGTERM comes
  serve              passes one after the other until SIGTERM comes, as a service does
  run-job ID ATTEMPT BY  run this attempt of this job, which the worker BY claimed (runOn: "fargate")
  run-schedule ID    take the schedule's own lock and do the work of its time (launch: "rule")`;

const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop.abort());
process.exitCode = await main(process.argv.slice(2));
// Connections that an app's own code holds open must not keep a task alive whose work is done: Fargate bills it.
process.exit();

async function main([command, ...rest]: readonly string[]): Promise<number> {
  try {
    return await (workOf(command, rest) ?? refuse)();
  } catch (error) {
    printFailure(error);
    return exitCodes.failure;
  }
}

function workOf(command: string | undefined, rest: readonly string[]): (() => Promise<number>) | undefined {
  const [id = "", attempt = "", from = ""] = rest;
  if (command === "pass" && rest.length === 0) return () => pass(stop.signal);
  if (command === "serve" && rest.length === 0) return () => serve(stop.signal);
  if (command === "run-schedule" && rest.length === 1) return () => runScheduleById(id, stop.signal);
  const isTry = rest.length === 3 && /^[1-9]\d{0,18}$/.test(id) && /^[1-9]\d{0,8}$/.test(attempt);
  if (command !== "run-job" || !isTry) return undefined;
  return () => runTry({ jobId: id as JobId, attempt: Number(attempt), from }, stop.signal);
}

async function refuse(): Promise<number> {
  console.error(usage);
  return exitCodes.usage;
}
