import type { ApiClient } from "./client.ts";
import { CliError, exitCodes } from "./exit.ts";
import type { ImportedQueue, ForeignJob } from "./import-queues.ts";
import type { Output } from "./output.ts";

export interface Applied {
  readonly created: number;
  /** Written by an earlier run. */
  readonly existed: number;
  readonly failed: number;
}

const together = 50;
const failuresShownMax = 20;

/**
 * Looks which kinds the stage has, and gives what enqueues what waits: a job that the stage refuses is said and passed by.
 * @throws CliError when the API does not answer or refuses the caller; later for a kind that is not deployed, with nothing written.
 */
export async function openApply(
  client: ApiClient,
  out: Output,
): Promise<(imported: ImportedQueue) => Promise<Applied>> {
  const { kinds } = await client.call("listKinds");
  const known = new Set(kinds.map(({ id }) => id));
  return async (imported) => {
    const missing = imported.waiting.flatMap(({ kind }) => (known.has(kind) ? [] : [kind]));
    if (missing.length === 0) return await applyAll(client, imported, out);
    throw new CliError(exitCodes.notFound, "unknown-kind", `there is no kind ${missing.join(", ")}`, [
      "write the module without --apply, say what its jobs do, and deploy it first",
    ]);
  };
}

async function applyAll(client: ApiClient, imported: ImportedQueue, out: Output): Promise<Applied> {
  const counts = { created: 0, existed: 0, failed: 0 };
  const write = async ({ kind, key, payload, dueAt }: ForeignJob): Promise<void> => {
    const given = payload === null ? {} : { payload };
    try {
      const { created } = await client.call("createJob", {}, { kind, key, dueAt, ...given });
      counts[created ? "created" : "existed"] += 1;
    } catch (error) {
      if (!(error instanceof CliError) || !ofOneJob.has(error.exitCode)) throw error;
      counts.failed += 1;
      if (counts.failed <= failuresShownMax) out.note(`${key}: ${error.message}`);
    }
  };
  for await (const page of imported.pages()) {
    for (let at = 0; at < page.length; at += together) await Promise.all(page.slice(at, at + together).map(write));
    out.note(`${counts.created} written, ${counts.existed} were there, ${counts.failed} refused`);
  }
  return counts;
}

const ofOneJob: ReadonlySet<number> = new Set([exitCodes.usage, exitCodes.conflict, exitCodes.notFound]);
