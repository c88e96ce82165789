import { beginBulk, type Bulk, type NewBulk, readBulks } from "../insight/bulk.ts";
import type { KeyedRequest } from "../insight/request-key.ts";
import { runBulkPage } from "../insight/run-bulk.ts";
import { inBackground } from "./in-time.ts";
import type { JsonAnswer } from "./json-answer.ts";
import type { ApiOptions } from "./options.ts";
import { unknownBulk } from "./problem.ts";
import { bulkJson } from "./shape/bulk.ts";

export type BeginBulk = (bulk: NewBulk, request?: KeyedRequest) => Promise<JsonAnswer>;

interface Bulks {
  /** Answers 202 with the bulk action. Its pages follow in this process; when it ends before they do, in the next pass. */
  readonly begin: BeginBulk;
  /** Answers so with one that an earlier request began. */
  again(id: string): Promise<JsonAnswer>;
}

export function bulkBeginner(options: ApiOptions): Bulks {
  const { insight, ports } = options;
  const owner = `api:${ports.random.id().slice(0, 8)}`;
  let isRunning = false;
  /** One began after the last look for one. */
  let isMore = false;
  const pages = async (): Promise<void> => {
    try {
      while (isMore) {
        isMore = false;
        while (await runBulkPage(options, { owner }));
      }
    } finally {
      isRunning = false;
    }
  };
  return {
    async begin(bulk, request) {
      const written = await beginBulk(insight, bulk, request);
      isMore = true;
      if (!isRunning) {
        isRunning = true;
        inBackground(ports.log, "a bulk action", pages);
      }
      return begun(written);
    },
    again: async (id) => begun(await knownBulk(insight, id)),
  };
}

/** @throws HttpProblem 404 */
export async function knownBulk(insight: ApiOptions["insight"], id: string): Promise<Bulk> {
  const [found] = await insight.run(readBulks, { id, limit: 1 });
  if (found === undefined) throw unknownBulk(id);
  return found;
}

const begun = (bulk: Bulk): JsonAnswer => ({ status: 202, body: bulkJson(bulk), location: `/bulk/${bulk.id}` });
