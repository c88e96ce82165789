import { hidden, type SensitiveKinds } from "./sensitive.ts";

type Members = Readonly<Record<string, unknown>>;

/**
 * An answer without what its kinds mark as sensitive: those members of payloads and inputs, and with them every result and
 * error text of such a kind, which may quote them. It looks at the answer itself, so that no endpoint can forget it.
 */
export function redacted(value: unknown, kinds: Pick<SensitiveKinds, "of">, kind: string | null = null): unknown {
  if (Array.isArray(value)) return value.map((each) => redacted(each, kinds, kind));
  if (typeof value !== "object" || value === null) return value;
  const members = value as Members;
  const own = kindOf(members) ?? kind;
  const hiding = own === null ? null : kinds.of(own);
  return Object.fromEntries(
    Object.entries(members).map(([name, each]) => {
      if (name === "filter") return [name, withoutSearched(each)];
      // The beginning of a request that was too long for the audit is no JSON any more.
      if (name === "shortened" || (name === "payload" && isHash(each))) return [name, hidden];
      if (hiding === null) return [name, redacted(each, kinds, own)];
      if (name === "payload" || name === "input") return [name, hiding.hide(each)];
      // Its stack, response and log lines may quote them as well.
      if (name === "failure") return [name, null];
      if (texts.has(name) && each !== null) return [name, textless(each)];
      return [name, redacted(each, kinds, own)];
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
    ...(text === undefined ? {} : { text: hidden }),
    ...(payload === undefined
      ? {}
      : { payload: Object.fromEntries(Object.keys(payload).map((name) => [name, hidden])) }),
  };
}

const texts = new Set(["result", "error", "errorMessage", "message", "output", "stack", "cause", "log", "sentence"]);

/** An error keeps its code, which people filter by. */
const textless = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "code" in value && "message" in value
    ? { code: value.code, message: value.message === null ? null : hidden }
    : hidden;

/** Of a job, a run or a group of failures; a schedule names it inside of `job`. */
function kindOf({ kind, job }: Members): string | null {
  if (typeof kind === "string") return kind;
  const inside = (job as { readonly kind?: unknown } | null | undefined)?.kind;
  return typeof inside === "string" ? inside : null;
}
