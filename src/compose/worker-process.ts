import { closeSync, openSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { devNull, hostname, tmpdir } from "node:os";
import { join } from "node:path";
import type { Ports } from "../machine/ports.ts";

/** How the name of a worker begins: its lane, machine and process. */
export const workerPrefix = (lane: string, pid: number): string => `${lane}@${hostname()}:${pid}:`;

/** As `functions/worker.ts` makes it of the prefix. */
const wholeName = /@.+:\d+:[\w-]{8}$/;

/**
 * On Lambda: ends the leases of the process that ran here before this one. Lambda keeps `/tmp` when it starts the environment
 * of an invocation again that crashed or ran out of time, and runs one process at a time there. Never throws: the leases
 * end by themselves.
 */
export async function endPredecessor(
  { store, log }: Pick<Ports, "store" | "log">,
  { lane, worker }: { readonly lane: string; readonly worker: string },
): Promise<void> {
  if (process.env["AWS_LAMBDA_FUNCTION_NAME"] === undefined) return;
  const file = join(tmpdir(), `belfry-worker-${lane}`);
  try {
    const before = await readFile(file, "utf8").catch(() => null);
    // A process that died while it wrote left the beginning of its name, or nothing, which every worker's name begins with.
    if (before !== null && wholeName.test(before))
      await store.endLeases(before, causeOnLambda(process.env["AWS_LAMBDA_LOG_STREAM_NAME"]));
    await writeFile(file, worker);
  } catch (error) {
    log.warn("the leases of the process before this one could not be ended; they end by themselves", { error });
  }
}

/** Lambda does not tell a process how the one before it ended; the log of their environment does. */
const causeOnLambda = (logStream: string | undefined): string =>
  `its process ended (out of time, out of memory or a crash): see log stream ${logStream ?? "of its function"}`;

/** A batch opens a few at least: connections, and what its handlers open. */
const filesMin = 16;

/** Whether this process can still open files and connections. Costs a tenth of a millisecond. */
export function hasFiles(): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < filesMin) opened.push(openSync(devNull, "r"));
    return true;
  } catch {
    return false;
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/**
 * Ends this process, which has no file descriptors left, so that the next invocation gets a fresh one. Its attempts without an
 * outcome end with it, uncharged. Unanswered, the messages of its batch come again after their visibility timeout and find
 * their rows as they are.
 */
export async function endSpent({ store, log }: Pick<Ports, "store" | "log">, worker: string): Promise<never> {
  log.error("no file descriptors are left, so this process ends; the next one is fresh");
  await store.endLeases(worker, "its process ran out of file descriptors").catch((error: unknown) => {
    log.warn("its leases could not be ended; they end by themselves", { error });
  });
  process.exit(1);
}
