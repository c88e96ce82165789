/** The text of a filter bar, word by word. */
import { words } from "../language/words.ts";

/** Blanks inside quotes do not part words. */
export const wordsOf = (text: string): readonly string[] => text.match(/(?:[^\s"]+|"(?:\\.|[^"\\])*"?)+/g) ?? [];

export const unquote = (value: string): string =>
  value.startsWith('"') ? value.slice(1).replace(/"$/, "").replaceAll('\\"', '"') : value;

export const quote = (value: string): string => (/[\s"]/.test(value) ? `"${value.replaceAll('"', '\\"')}"` : value);

export interface Filter {
  readonly terms: readonly { readonly field: string; readonly value: string }[];
  readonly words: readonly string[];
  /** What cannot be used, in words. One of them, and nothing matches. */
  readonly problems: readonly string[];
}

/** Terms separated by spaces; a value with spaces stands in double quotes. A field that ends with a dot has members. */
export function parseTerms(
  text: string,
  fields: Readonly<Record<string, string>>,
  problemOf: (field: string, value: string) => string | null,
): Filter {
  const names = Object.keys(fields);
  const isField = (field: string): boolean =>
    names.some((name) => (name.endsWith(".") ? field.startsWith(name) && field !== name : field === name));
  const terms: Filter["terms"][number][] = [];
  const plain: string[] = [];
  const problems: string[] = [];
  for (const word of wordsOf(text)) {
    const colon = word.indexOf(":");
    const field = word.slice(0, Math.max(0, colon)).toLowerCase();
    const value = unquote(word.slice(colon + 1));
    const problem = problemOf(field, value);
    if (colon < 0) plain.push(value);
    else if (terms.some((term) => term.field === field)) problems.push(words.filter.twice(field));
    else if (!isField(field)) problems.push(words.filter.noField(field, names.join(", ")));
    else if (value === "") problems.push(words.filter.noValue(field));
    else if (problem !== null) problems.push(problem);
    else terms.push({ field: field.startsWith("payload.") ? word.slice(0, colon) : field, value });
  }
  return { terms, words: plain, problems };
}

/** The term in place of others of its field, or added; `null` removes them. */
export function withTerm(text: string, field: string, value: string | null): string {
  const rest = wordsOf(text).filter((word) => !word.toLowerCase().startsWith(`${field}:`));
  return [...rest, ...(value === null ? [] : [`${field}:${quote(value)}`])].join(" ");
}

/** As it is written; empty without one. */
export const valueIn = (text: string, field: string): string =>
  unquote(
    wordsOf(text)
      .findLast((word) => word.toLowerCase().startsWith(`${field}:`))
      ?.slice(field.length + 1) ?? "",
  );

/** What the word that is being written may become. */
export interface Suggestion {
  /** Replaces the word that is being written. */
  readonly word: string;
  readonly hint: string;
}

export const lastWord = (text: string): string => (/\s$/.test(text) ? "" : (wordsOf(text).at(-1) ?? ""));

/** The text with its last word replaced. A field waits for its value; a whole term for the next one. */
export function completeTerm(text: string, { word }: Suggestion): string {
  const kept = text.slice(0, text.length - lastWord(text).length);
  return `${kept}${word}${/[:.]$/.test(word) ? "" : " "}`;
}

export const unique = (values: readonly string[]): readonly string[] => [...new Set(values)].toSorted();

const suggestionsMax = 8;

/** What the last word of the text may become: a field that begins like it, or a value of its field; of several, the last one. */
export function suggestTerms(
  text: string,
  meanings: Readonly<Record<string, string>>,
  values: Readonly<Record<string, readonly [values: readonly string[], hint: string]>>,
): readonly Suggestion[] {
  const word = lastWord(text);
  const [field = "", start] = word.split(/:(.*)/s);
  const fields = Object.entries(meanings)
    .filter(([name]) => name.startsWith(field.toLowerCase()))
    .map(([name, hint]) => ({ word: name.endsWith(".") ? name : `${name}:`, hint }));
  const before = start?.slice(0, start.lastIndexOf(",") + 1) ?? "";
  const typed = start?.slice(before.length).replace(/^"/, "").toLowerCase() ?? "";
  const [known, hint] = values[field.toLowerCase()] ?? [[], ""];
  const own = known
    .filter((value) => value.toLowerCase().includes(typed))
    .map((value) => ({ word: `${field}:${before}${quote(value)}`, hint }));
  return (start === undefined ? fields : own).filter((each) => each.word !== word).slice(0, suggestionsMax);
}
