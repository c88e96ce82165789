import { setTimeout as wait } from "node:timers/promises";
import type { JobDetailReply } from "../api/shape/job.ts";
import type { ApiClient } from "./client.ts";
import { CliError, exitCodes } from "./exit.ts";

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
