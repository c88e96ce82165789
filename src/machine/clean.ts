import type { Json } from "./job.ts";
import { contractLimits } from "./contract-limits.ts";

/**
 * Text that Postgres can store: NUL and lone surrogates become U+FFFD, and what is longer than `max` characters is cut
 * (never through a surrogate pair). One bad error message must not fail its settle group.
 */
export function cleanText(text: string, max: number): string {
  return text.slice(0, max).toWellFormed().replaceAll("\u0000", "\uFFFD");
}

export const cleanCode = (code: string | null): string | null =>
  code === null ? null : cleanText(code, contractLimits.errorCodeCharactersMax);

export const cleanMessage = (message: string | null): string | null =>
  message === null ? null : cleanText(message, contractLimits.errorMessageCharactersMax);

/** A JSON value whose texts Postgres can store. Nothing is cut: results have a limit of their own. */
export function cleanJson(value: Json): Json {
  if (typeof value === "string") return cleanText(value, value.length);
  if (Array.isArray(value)) return value.map((item: Json) => cleanJson(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as Record<string, Json>).map(([name, item]) => [
      cleanText(name, name.length),
      cleanJson(item),
    ]),
  );
}
