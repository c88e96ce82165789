import { setTimeout as wait } from "node:timers/promises";
import { type Command, InvalidArgumentError } from "commander";
import type { JobDetailReply } from "../api/shape/job.ts";
import type { ApiClient } from "./client.ts";
import { CliError, exitCodes, Finished } from "./exit.ts";
import { followStarted } from "./follow-run.ts";
import type { Output } from "./output.ts";
import { jobText } from "./text.ts";

export interface WaitOptions {
  readonly wait?: boolean;
  readonly timeout: number;
}

const ended = new Set(["SUCCESS", "FAILED", "CANCELED", "SKIPPED"]);
const lookMs = 200;

/** Looks until the job has ended. @throws CliError after `seconds`. */
export async function waitForEnd(client: ApiClient, id: string, seconds: number): Promise<JobDetailReply> {
  const giveUp = performance.now() + seconds * 1_000;
  for (;;) {
    const job = await client.job(id);
    if (ended.has(job.state)) return job;
    if (performance.now() > giveUp) {
      throw new CliError(
        exitCodes.failure,
        "timeout",
        `job ${id} has not ended within ${seconds} s: it is ${job.phase}`,
      );
    }
    await wait(lookMs);
  }
}

export const withWait = (command: Command): Command =>
  command
    .option("--wait", "until it and the run it starts have ended; exit with 7 when one FAILED")
    .option("--timeout <seconds>", "how long --wait waits", secondsOf, 60);

function secondsOf(text: string): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) === 0) throw new InvalidArgumentError("write whole seconds, 1 or more.");
  return Number(text);
}

/** Shows a job that was just written, and the run it starts, as they ended. @throws Finished when one FAILED. */
export async function showEnd(
  client: ApiClient,
  { id, created }: { readonly id: string; readonly created: boolean },
  { timeout, out }: { readonly timeout: number; readonly out: Output },
): Promise<void> {
  const job = await waitForEnd(client, id, timeout);
  const run = job.state === "SUCCESS" ? await followStarted(client, job, out) : null;
  out.result({ created, ...job, ...(run === null ? {} : { run }) }, () => jobText(job, out));
  if (job.state === "FAILED" || run?.state === "FAILED") throw new Finished(exitCodes.failedJob);
}
