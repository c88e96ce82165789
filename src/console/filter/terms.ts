/** The text of a filter bar, word by word. */

/** Blanks inside quotes do not part words. */
export const wordsOf = (text: string): readonly string[] => text.match(/(?:[^\s"]+|"(?:\\.|[^"\\])*"?)+/g) ?? [];

export const unquoted = (value: string): string =>
  value.startsWith('"') ? value.slice(1).replace(/"$/, "").replaceAll('\\"', '"') : value;

export const quoted = (value: string): string => (/[\s"]/.test(value) ? `"${value.replaceAll('"', '\\"')}"` : value);

/** The term in place of others of its field, or added; `null` removes them. */
export function withTerm(text: string, field: string, value: string | null): string {
  const rest = wordsOf(text).filter((word) => !word.toLowerCase().startsWith(`${field}:`));
  return [...rest, ...(value === null ? [] : [`${field}:${quoted(value)}`])].join(" ");
}
