import type { ArchivedRow } from "../core/ports/archive.ts";
import { redacted } from "./redacted.ts";
import type { SensitiveKinds } from "./sensitive.ts";

/** Members of a row that may quote what its kind marks as sensitive, or let a guess of it be compared. */
const quoting = ["result", "error", "error_message", "payload_hash", "condition_row", "cursor", "detail"];

/**
 * A row's line for the archive, whose readers need not be those who may see what its kind marks as sensitive. Of a kind that is not
 * known nothing that may quote is left, and of a move that names none.
 */
export function redactedLine({ table, kind, line }: ArchivedRow, kinds: SensitiveKinds): string {
  if (kinds.isNone || table === "occurrence" || table === "event") return line;
  const row = JSON.parse(line) as Readonly<Record<string, unknown>>;
  if (table === "audit") return JSON.stringify(redacted(row, kinds));
  if (kind !== null && kinds.of(kind) === null) return line;
  const { history, ...rest } = redacted({ ...row, kind }, kinds) as Readonly<Record<string, unknown>>;
  const moves = Array.isArray(history) ? { history: history.map(quoteless) } : {};
  return JSON.stringify({ ...quoteless(rest), ...moves });
}

const quoteless = (row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, quoting.includes(name) && value !== null ? "[hidden]" : value]),
  );
