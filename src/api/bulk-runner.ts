import { runBulkPage } from "../core/admin/run-bulk.ts";
import { inBackground } from "./in-background.ts";
import type { ApiOptions } from "./options.ts";

/** Goes on with bulk actions in this process while there are any; when it ends before they do, the next pass does. */
export function bulkRunner({ operations, ports, registry, stage = "dev" }: ApiOptions): () => void {
  const owner = `api:${ports.random.id().slice(0, 8)}`;
  let isRunning = false;
  const pages = async (): Promise<void> => {
    try {
      while (await runBulkPage(ports, registry, operations, { owner, stage }));
    } finally {
      isRunning = false;
    }
  };
  return () => {
    if (isRunning) return;
    isRunning = true;
    inBackground(ports.log, "a bulk action", pages);
  };
}
