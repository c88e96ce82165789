import { createHmac } from "node:crypto";
import type { AuditRow } from "../insight/audit.ts";
import type { Log } from "../machine/ports.ts";
import { coalesceCalls } from "./gathered.ts";

export interface AuditedChange extends Omit<AuditRow, "detail"> {
  readonly body: unknown;
}

export interface AuditTrail {
  /** Resolves when the row is written. A row that cannot be written is logged, since the change has happened. */
  note(change: AuditedChange): Promise<void>;
}

/** The part of a body that the row keeps: the request, without large payloads. */
const detailCharactersMax = 2_000;

export function createAuditTrail(options: {
  write: (rows: readonly AuditRow[]) => Promise<void>;
  /** Asked for once; again after it failed. */
  key: () => Promise<Uint8Array>;
  log: Log;
}): AuditTrail {
  const { write, log } = options;
  let kept: Uint8Array | undefined;
  const put = coalesceCalls<AuditRow, void>(async (rows) => {
    await write(rows);
    return rows.map(() => undefined);
  });
  return {
    async note({ body, ...change }) {
      try {
        kept ??= await options.key();
        const detail = shortened(withoutPayloads(body, kept));
        await put({ ...change, target: change.target.slice(0, 500), detail });
      } catch (error) {
        log.error("a change could not be noted", { ...change, error });
      }
    },
  };
}

/** Only an HMAC: a payload is deleted with its job, and this row outlives both. Equal ones are of equal payloads. */
function withoutPayloads(body: unknown, key: Uint8Array): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]: [string, unknown]) => [
      name,
      name === "payload" ? { hmac: hmacOf(value, key) } : withoutPayloads(value, key),
    ]),
  );
}

const hmacOf = (value: unknown, key: Uint8Array): string =>
  createHmac("sha256", key)
    .update(JSON.stringify(value ?? null))
    .digest("hex");

function shortened(body: unknown): string {
  const text = JSON.stringify(body ?? null);
  return text.length <= detailCharactersMax ? text : JSON.stringify({ shortened: text.slice(0, detailCharactersMax) });
}
