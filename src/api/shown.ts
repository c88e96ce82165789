import type { Caller } from "./caller.ts";
import { HttpProblem } from "./problem.ts";
import { redact } from "./redacted.ts";
import { isSealed, sealedText } from "../machine/seal.ts";
import { everyKindHidden, hiddenText, type SensitiveKinds, sensitiveKinds } from "./sensitive.ts";
import type { JobDefinition } from "../define/definition.ts";
import type { Clock } from "../machine/ports.ts";
import { insightLimits } from "../insight/insight-limits.ts";
import { readMarks } from "../insight/secrecy.ts";
import type { Database } from "../insight/sql-query.ts";

export async function shownTo({ hides }: Pick<Caller, "hides">, value: unknown, marks: Marks): Promise<unknown> {
  const kinds = hides === true ? await marks() : null;
  if (kinds !== null && !kinds.isNone) return redact(value, kinds);
  return marks.areSealed === true ? withoutSealed(value) : value;
}

/** What no process of the API can read is not shown as a long text either. An answer without it is given back as it is. */
function withoutSealed(value: unknown): unknown {
  if (isSealed(value)) return sealedText;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutSealed);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutSealed(each)]));
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
  if (quotes === null) return redact(document, everyKindHidden);
  const kinds = await marks().catch(() => everyKindHidden);
  const isHidden = kinds.of(quotes) !== null;
  return redact(isHidden ? { ...document, detail: hiddenText } : document, kinds, quotes);
}

/** A caller that hides: what it does not see it must not find by a filter either. @throws HttpProblem 403 */
export async function refuseProbe({ name }: Caller, marks: Marks, asked: readonly string[]): Promise<void> {
  const probe = asked.find((each) => each === "text" || each === "payload" || each.startsWith("payload."));
  if (probe === undefined || (await marks()).isNone) return;
  throw new HttpProblem("needs-reveal", `${name} does not see what is sensitive, so ${probe} is no filter for it`);
}

/** Throws what the store throws: without the marks of earlier releases it is not known what is hidden. */
export interface Marks {
  (): Promise<SensitiveKinds>;
  /** Some kind of this release seals what it is given. */
  readonly areSealed?: boolean;
}

/** The marks of these definitions and of all releases before, as they are or were a few seconds ago. */
export function createMarks(
  definitions: Iterable<JobDefinition>,
  { insight, clock }: { readonly insight: Pick<Database, "run">; readonly clock: Pick<Clock, "elapsedMs"> },
): Marks {
  const all = Array.from(definitions);
  const own = sensitiveKinds(all);
  let read: { readonly atMs: number; readonly kinds: Promise<SensitiveKinds> } | null = null;
  const areSealed = all.some(({ seal }) => seal !== null);
  const look = async () => {
    const atMs = clock.elapsedMs();
    if (read === null || atMs - read.atMs >= insightLimits.marksKnownMs) {
      read = { atMs, kinds: insight.run(readMarks, {}).then((kept) => own.with(kept)) };
    }
    const { kinds } = read;
    try {
      return await kinds;
    } catch (error) {
      if (read?.kinds === kinds) read = null;
      throw error;
    }
  };
  return Object.assign(look, { areSealed });
}
