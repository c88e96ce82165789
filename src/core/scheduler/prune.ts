import { passLimits } from "./pass-limits.ts";
import type { Fence, Ports } from "../ports/ports.ts";

/** Deletes what has outlived its retention, a page at a time, and keeps the next days' partitions ready. */
export async function prune(ports: Pick<Ports, "store">, options: { fence?: Fence }): Promise<Record<string, number>> {
  const pruned = await ports.store.prune({ limit: passLimits.pruneRowsMax, ...options });
  return { pruned: pruned.jobs, "pruned.occurrences": pruned.occurrences };
}
