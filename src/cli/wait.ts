import { setTimeout as wait } from "node:timers/promises";
import { type Command, InvalidArgumentError } from "commander";
import type { JobDetailReply, JobReply } from "../api/shape/job.ts";
import type { ApiClient } from "./client.ts";
import { CliError, exitCodes, Finished } from "./exit.ts";
import type { Output } from "./output.ts";
import { jobText } from "./text.ts";
import type { RunReply } from "../api/shape/run.ts";
import { spanText } from "./times.ts";

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
    const job = await client.call("getJob", { id });
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
  const giveUp = performance.now() + timeout * 1_000;
  const job = await waitForEnd(client, id, timeout);
  const run = job.state === "SUCCESS" ? await followStarted(client, job, { out, giveUp, seconds: timeout }) : null;
  out.result({ created, ...job, ...(run === null ? {} : { run }) }, () => jobText(job, out));
  if (job.state === "FAILED" || run?.state === "FAILED") throw new Finished(exitCodes.failedJob);
}

const endedRuns = new Set(["DONE", "FAILED", "CANCELED"]);
const lookAtRunMs = 500;
const barCells = 20;

interface Following {
  readonly out: Output;
  /** By the monotonic clock, in ms, and the seconds from which it was made. */
  readonly giveUp?: number;
  readonly seconds?: number;
}

/** Looks until the run has ended, and says how far it is. @throws CliError after `giveUp`. */
export async function followRun(client: ApiClient, id: string, following: Following): Promise<RunReply> {
  const { out, giveUp = Infinity, seconds = 0 } = following;
  let reported = "";
  const began = performance.now();
  let doneAtFirst: number | null = null;
  for (;;) {
    const run = await client.call("getRun", { id });
    if (endedRuns.has(run.state)) return run;
    doneAtFirst ??= run.progress.done;
    const line = progressLine(run, { seconds: (performance.now() - began) / 1_000, doneAtFirst });
    if (line !== reported) out.note(line);
    reported = line;
    if (performance.now() > giveUp) {
      const progress = `${run.progress.done} of ${run.progress.total} done`;
      throw new CliError(exitCodes.failure, "timeout", `run ${id} has not ended within ${seconds} s: ${progress}`);
    }
    await wait(lookAtRunMs);
  }
}

/** The run that a job started, to its end; null for a job that starts none. */
async function followStarted(client: ApiClient, job: JobReply, following: Following): Promise<RunReply | null> {
  const { runs } = await client.call("listRuns", { kind: job.kind, limit: "100" });
  const run = runs.find(({ starter }) => starter === job.id);
  return run === undefined ? null : await followRun(client, run.id, following);
}

function progressLine(run: RunReply, { seconds, doneAtFirst }: { seconds: number; doneAtFirst: number }): string {
  const { done, total, running, failed, percent } = run.progress;
  const full = Math.round((percent / 100) * barCells);
  const bar = `[${"#".repeat(full)}${".".repeat(barCells - full)}]`;
  const rate = seconds < 1 ? 0 : (done - doneAtFirst) / seconds;
  const left =
    rate > 0 && run.sealed ? `, ${rate.toFixed(1)}/s, ${spanText(((total - done) / rate) * 1_000)} left` : "";
  return `${bar} ${run.state}: ${done} of ${total} done (${percent} %), ${running} running, ${failed} failed${left}`;
}
