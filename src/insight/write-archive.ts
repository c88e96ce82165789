import {
  type ArchiveBatch,
  archiveLimits,
  type ArchivePart,
  archiveParts,
  type ArchiveSource,
  type ArchiveWritten,
} from "./archive.ts";
import type { Ports } from "../machine/ports.ts";
import { passLimits } from "../schedule/pass-limits.ts";

type ArchivingPorts = Pick<Ports, "clock" | "log" | "metrics" | "crashPoint">;

export interface Archiving {
  readonly source: ArchiveSource;
  /** Writes the objects of a batch; durable when it resolves. */
  readonly write: (batch: ArchiveBatch) => Promise<ArchiveWritten>;
}

/**
 * Writes what is past its retention to the archive, then deletes it, beside the passes: a store that hangs delays no schedule.
 * It goes on without a pause while batches are full. Rows that could not be written stay. Safe in any number of processes at once.
 * Ends with the signal; never throws.
 */
export async function archiving(
  ports: ArchivingPorts,
  { source, write }: Archiving,
  signal: AbortSignal,
): Promise<void> {
  const nextLookMs = new Map<ArchivePart, number>();
  const later = (part: ArchivePart, ms: number) => nextLookMs.set(part, ports.clock.elapsedMs() + ms);
  while (!signal.aborted) {
    let goesOn = false;
    for (const part of archiveParts) {
      if (signal.aborted) break;
      if (ports.clock.elapsedMs() < (nextLookMs.get(part) ?? 0)) continue;
      try {
        const found = await archiveNext(ports, { source, write }, part);
        if (found === "none") later(part, archiveLimits.lookMs);
        goesOn ||= found === "full";
      } catch (error) {
        for (const each of archiveParts) later(each, archiveLimits.retryMs);
        await reportFailure(ports, source, part, error);
      }
    }
    if (!goesOn) await ports.clock.sleep(passLimits.passIntervalMs, signal);
  }
}

/** One batch: written, then deleted. `full`: it left, and the next one need not wait; a batch that another process deletes does. */
export async function archiveNext(
  { log, crashPoint }: Pick<Ports, "log" | "crashPoint">,
  { source, write }: Archiving,
  part: ArchivePart,
): Promise<"none" | "some" | "full"> {
  const batch = await source.next(part);
  if (batch === null) return "none";
  const written = await write(batch);
  await crashPoint?.("archive.written");
  const left = await source.leave(batch, written);
  if (!left) log.info("rows changed while they were archived; they stay, and are read again", { part });
  return left && batch.isFull ? "full" : "some";
}

async function reportFailure(
  { log, metrics }: ArchivingPorts,
  source: ArchiveSource,
  part: ArchivePart,
  error: unknown,
): Promise<void> {
  log.error("the archive could not be written; the rows stay until it can", { part, error });
  metrics.add("archive.failed", 1);
  try {
    await source.failed(part, String(error).slice(0, archiveLimits.failureCharactersMax));
  } catch (noteError) {
    log.warn("the failure of the archive could not be noted", { error: noteError });
  }
}
