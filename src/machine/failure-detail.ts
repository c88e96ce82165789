import { cleanText } from "./clean.ts";
import type { FailureDetail, LoggedLine } from "./job.ts";

export const failureDetailLimits = {
  stackCharactersMax: 8_000,
  causesMax: 5,
  causeCharactersMax: 2_000,
  bodyCharactersMax: 2_000,
  logLinesMax: 50,
  logLineCharactersMax: 500,
} as const;

/** Any value can be thrown, with members that throw when they are read. */
export function failureDetail(error: unknown, log: readonly LoggedLine[]): FailureDetail {
  const { stackCharactersMax, causeCharactersMax } = failureDetailLimits;
  return {
    stack: cut(() => textOf(error, "stack"), stackCharactersMax),
    causes: causesOf(error).flatMap((cause) => {
      const text = cut(() => textOf(cause, "stack") ?? String(cause), causeCharactersMax);
      return text === null ? [] : [text];
    }),
    response: responseOf(error),
    log,
  };
}

function causesOf(error: unknown): readonly unknown[] {
  const found: unknown[] = [];
  for (let next = member(error, "cause"); next != null && !found.includes(next); next = member(next, "cause")) {
    if (found.push(next) === failureDetailLimits.causesMax) break;
  }
  return found;
}

function responseOf(error: unknown): FailureDetail["response"] {
  for (const each of [error, ...causesOf(error)]) {
    const response = member(each, "response");
    const status = member(response, "status");
    if (typeof status !== "number" || !Number.isInteger(status)) continue;
    return { status, body: cut(() => textOf(response, "body"), failureDetailLimits.bodyCharactersMax) };
  }
  return null;
}

function member(value: unknown, name: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
}

function textOf(value: unknown, name: string): string | null {
  const text = member(value, name);
  return typeof text === "string" ? text : null;
}

function cut(read: () => string | null, charactersMax: number): string | null {
  try {
    const text = read();
    return text === null ? null : cleanText(text, charactersMax);
  } catch {
    return null;
  }
}
