import type { Caller } from "./caller.ts";
import type { Marks } from "./marks.ts";
import { HttpProblem } from "./problem.ts";
import { redacted } from "./redacted.ts";
import { everyKindHidden, hidden } from "./sensitive.ts";

/** A value as its caller may see it. */
export async function shownTo({ hides }: Pick<Caller, "hides">, value: unknown, marks: Marks): Promise<unknown> {
  if (hides !== true) return value;
  const kinds = await marks();
  return kinds.isNone ? value : redacted(value, kinds);
}

/**
 * A problem's document, likewise. Its texts are about what the caller itself sent, unless it `quotes` a kind. A caller that is not
 * known sees what every caller may.
 */
export async function shownProblem(
  caller: Pick<Caller, "hides"> | null,
  document: Readonly<Record<string, unknown>>,
  { quotes, marks }: { readonly quotes: string | null; readonly marks: Marks },
): Promise<unknown> {
  if (caller !== null && caller.hides !== true) return document;
  // No look at the store, which may be what the problem is about: nothing else in a document is of a kind.
  if (quotes === null) return redacted(document, everyKindHidden);
  const kinds = await marks().catch(() => everyKindHidden);
  const isHidden = kinds.of(quotes) !== null;
  return redacted(isHidden ? { ...document, detail: hidden } : document, kinds, quotes);
}

/** A caller that does not see a value must not find it by a filter either. @throws HttpProblem 403 */
export async function refuseProbe({ hides, name }: Caller, marks: Marks, asked: readonly string[]): Promise<void> {
  const probe = asked.find((each) => each === "text" || each === "payload" || each.startsWith("payload."));
  if (hides !== true || probe === undefined || (await marks()).isNone) return;
  throw new HttpProblem("needs-reveal", `${name} does not see what is sensitive, so ${probe} is no filter for it`);
}
