import { passLimits } from "./pass-limits.ts";
import type { Fence } from "../machine/fence.ts";
import type { Ports } from "../machine/ports.ts";

/** Deletes a page of rows past their retention, and creates the partitions of the next days. */
export async function prune(
  ports: Pick<Ports, "store">,
  options: { fence?: Fence | undefined },
): Promise<Record<string, number>> {
  const pruned = await ports.store.prune({ limit: passLimits.pruneRowsMax, ...options });
  return { pruned: pruned.jobs, "pruned.occurrences": pruned.occurrences };
}
