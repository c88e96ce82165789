/** The text of a filter bar, word by word. */

/** Blanks inside quotes do not part words. */
export const wordsOf = (text: string): readonly string[] => text.match(/(?:[^\s"]+|"(?:\\.|[^"\\])*"?)+/g) ?? [];

export const unquote = (value: string): string =>
  value.startsWith('"') ? value.slice(1).replace(/"$/, "").replaceAll('\\"', '"') : value;

export const quote = (value: string): string => (/[\s"]/.test(value) ? `"${value.replaceAll('"', '\\"')}"` : value);

/** The term in place of others of its field, or added; `null` removes them. */
export function withTerm(text: string, field: string, value: string | null): string {
  const rest = wordsOf(text).filter((word) => !word.toLowerCase().startsWith(`${field}:`));
  return [...rest, ...(value === null ? [] : [`${field}:${quote(value)}`])].join(" ");
}

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

/** The fields that begin like this word. */
export const fieldsLike = (start: string, meanings: Readonly<Record<string, string>>): readonly Suggestion[] =>
  Object.entries(meanings)
    .filter(([field]) => field.startsWith(start.toLowerCase()))
    .map(([field, hint]) => ({ word: field.endsWith(".") ? field : `${field}:`, hint }));
