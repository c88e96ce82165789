import { hiddenText, type SensitiveKinds } from "./sensitive.ts";
import type { ArchivedRow } from "../insight/archive.ts";

type Members = Readonly<Record<string, unknown>>;

/**
 * An answer without what its kinds mark as sensitive: those members of payloads and inputs, and with them every result and
 * error text of such a kind, which may quote them. It looks at the answer itself, so that no endpoint can forget it.
 */
export function redact(value: unknown, kinds: Pick<SensitiveKinds, "of">, kind: string | null = null): unknown {
  if (Array.isArray(value)) return value.map((each) => redact(each, kinds, kind));
  if (typeof value !== "object" || value === null) return value;
  const members = value as Members;
  const own = kindOf(members) ?? kind;
  const hiding = own === null ? null : kinds.of(own);
  return Object.fromEntries(
    Object.entries(members).map(([name, each]) => {
      if (name === "filter") return [name, withoutSearched(each)];
      // The beginning of a request that was too long for the audit is no JSON any more.
      if (name === "shortened" || (name === "payload" && isHash(each))) return [name, hiddenText];
      if (hiding === null) return [name, redact(each, kinds, own)];
      if (name === "payload" || name === "input") return [name, hiding.hide(each)];
      if (name === "pieces") return [name, []];
      // Its stack, response and log lines may quote them as well.
      if (name === "failure") return [name, null];
      if (texts.has(name) && each !== null) return [name, textless(each)];
      return [name, redact(each, kinds, own)];
    }),
  );
}

/** Of a payload in the audit: who may write jobs could compare it with those of own guesses. */
const isHash = (value: unknown): boolean => Object.keys(value ?? {}).join() === "hmac";

/** What a change of many jobs looked for may be the very value that is hidden, of whichever kind. */
function withoutSearched(filter: unknown): unknown {
  if (typeof filter !== "object" || filter === null) return filter;
  const { text, payload } = filter as { readonly text?: unknown; readonly payload?: object };
  return {
    ...filter,
    ...(text === undefined ? {} : { text: hiddenText }),
    ...(payload === undefined
      ? {}
      : { payload: Object.fromEntries(Object.keys(payload).map((name) => [name, hiddenText])) }),
  };
}

const texts = new Set(["result", "error", "errorMessage", "message", "output", "stack", "cause", "log", "sentence"]);

/** An error keeps its code, which people filter by. */
const textless = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "code" in value && "message" in value
    ? { code: value.code, message: value.message === null ? null : hiddenText }
    : hiddenText;

/** Of a job, a run or a group of failures; a schedule names it inside of `job`. */
function kindOf({ kind, job }: Members): string | null {
  if (typeof kind === "string") return kind;
  const inside = (job as { readonly kind?: unknown } | null | undefined)?.kind;
  return typeof inside === "string" ? inside : null;
}

/** Members of a row that may quote what its kind marks as sensitive, or let a guess of it be compared. */
const quoting = ["result", "error", "error_message", "condition_row", "cursor", "detail"];

/**
 * A row's line for the archive, whose readers need not be those who may see what its kind marks as sensitive. Of a kind that is not
 * known nothing that may quote is left, and of a move that names none.
 */
export function redactedLine({ table, kind, line }: ArchivedRow, kinds: SensitiveKinds): string {
  if (kinds.isNone || table === "occurrence" || table === "event") return line;
  const row = JSON.parse(line) as Readonly<Record<string, unknown>>;
  if (table === "audit") return JSON.stringify(redact(row, kinds));
  if (kind !== null && kinds.of(kind) === null) return line;
  const { history, ...rest } = redact({ ...row, kind }, kinds) as Readonly<Record<string, unknown>>;
  const moves = Array.isArray(history) ? { history: history.map(quoteless) } : {};
  return JSON.stringify({ ...quoteless(rest), ...moves });
}

const quoteless = (row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, quoting.includes(name) && value !== null ? "[hidden]" : value]),
  );
