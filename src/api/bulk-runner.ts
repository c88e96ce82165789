import { runBulkPage } from "../core/admin/run-bulk.ts";
import type { ApiOptions } from "./options.ts";

/** Goes on with bulk actions in this process while there are any; when it ends before they do, the next pass does. */
export function bulkRunner({
  operations,
  ports,
  registry,
  dispatchWindowMs,
  stage = "dev",
}: ApiOptions): () => Promise<void> {
  const owner = `api:${ports.random.id().slice(0, 8)}`;
  let isRunning = false;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      while (await runBulkPage(ports, registry, operations, { owner, dispatchWindowMs, stage }));
    } catch (error) {
      ports.log.warn("a bulk action stopped here; the next pass goes on with it", { error });
    }
    isRunning = false;
  };
}
