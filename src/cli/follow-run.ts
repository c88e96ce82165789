import { setTimeout as wait } from "node:timers/promises";
import type { JobReply } from "../api/shape/job.ts";
import type { RunListReply, RunReply } from "../api/shape/run.ts";
import { type ApiClient, part } from "./client.ts";
import type { Output } from "./output.ts";
import { spanText } from "./times.ts";

const ended = new Set(["DONE", "FAILED", "CANCELED"]);
const lookMs = 500;
const barCells = 20;

/** Looks until the run has ended, and says how far it is. */
export async function followRun(client: ApiClient, id: string, out: Output): Promise<RunReply> {
  let reported = "";
  const began = performance.now();
  let doneAtFirst: number | null = null;
  for (;;) {
    const run = await client.get<RunReply>(`/runs/${part(id)}`);
    if (ended.has(run.state)) return run;
    doneAtFirst ??= run.progress.done;
    const line = progressLine(run, { seconds: (performance.now() - began) / 1_000, doneAtFirst });
    if (line !== reported) out.note(line);
    reported = line;
    await wait(lookMs);
  }
}

/** The run that a job started, to its end; null for a job that starts none. */
export async function followStarted(client: ApiClient, job: JobReply, out: Output): Promise<RunReply | null> {
  const { runs } = await client.get<RunListReply>("/runs", { kind: job.kind, limit: "100" });
  const run = runs.find(({ starter }) => starter === job.id);
  return run === undefined ? null : await followRun(client, run.id, out);
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
