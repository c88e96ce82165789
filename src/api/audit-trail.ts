import type { AuditRow } from "../core/ports/audit.ts";
import type { Log, Random } from "../core/ports/ports.ts";
import { gathered } from "./gathered.ts";

/** One change as it was asked for. */
export interface Change {
  readonly caller: string;
  /** `POST /jobs/:id/cancel`. */
  readonly action: string;
  /** The path as it was asked. */
  readonly target: string;
  readonly status: number;
  readonly body: unknown;
}

export interface AuditTrail {
  /** Resolves when the row is written. A change that cannot be noted is logged: it has happened all the same. */
  note(change: Change): Promise<void>;
}

/** What the row keeps of a body: enough to see what was asked, never a payload of hundreds of kilobytes. */
const detailCharactersMax = 2_000;

export function createAuditTrail(options: {
  write: (rows: readonly AuditRow[]) => Promise<void>;
  random: Random;
  log: Log;
}): AuditTrail {
  const { write, random, log } = options;
  const put = gathered<AuditRow, void>(async (rows) => {
    await write(rows);
    return rows.map(() => undefined);
  });
  return {
    async note({ body, ...change }) {
      const trace = random.id();
      try {
        await put({ ...change, target: change.target.slice(0, 500), detail: shortened(body), trace });
      } catch (error) {
        log.error("a change could not be noted", { trace, ...change, error });
      }
    },
  };
}

function shortened(body: unknown): string {
  const text = JSON.stringify(body ?? null);
  return text.length <= detailCharactersMax ? text : JSON.stringify({ shortened: text.slice(0, detailCharactersMax) });
}
