import { runBulkPage } from "../core/admin/run-bulk.ts";
import type { Operations } from "../core/ports/operations.ts";
import { inBackground } from "./in-background.ts";
import type { JsonAnswer } from "./json-answer.ts";
import type { ApiOptions } from "./options.ts";
import { bulkJson } from "./shape/bulk.ts";

export type BeginBulk = (wanted: Parameters<Operations["createBulk"]>[0]) => Promise<JsonAnswer>;

/** Answers 202 with the bulk action. Its pages follow in this process; when it ends before they do, in the next pass. */
export function bulkBeginner({ operations, ports, registry, stage = "dev" }: ApiOptions): BeginBulk {
  const owner = `api:${ports.random.id().slice(0, 8)}`;
  let isRunning = false;
  const pages = async (): Promise<void> => {
    try {
      while (await runBulkPage(ports, registry, operations, { owner, stage }));
    } finally {
      isRunning = false;
    }
  };
  return async (wanted) => {
    const written = await operations.createBulk(wanted);
    if (!isRunning) {
      isRunning = true;
      inBackground(ports.log, "a bulk action", pages);
    }
    return { status: 202, body: bulkJson(written), location: `/bulk/${written.id}` };
  };
}
