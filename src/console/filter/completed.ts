import { wordsOf } from "./terms.ts";

/** What the word that is being written may become. */
export interface Suggestion {
  /** Replaces the word that is being written. */
  readonly word: string;
  readonly hint: string;
}

export const lastWord = (text: string): string => (/\s$/.test(text) ? "" : (wordsOf(text).at(-1) ?? ""));

/** The text with its last word replaced. A field waits for its value; a whole term for the next one. */
export function completed(text: string, { word }: Suggestion): string {
  const kept = text.slice(0, text.length - lastWord(text).length);
  return `${kept}${word}${/[:.]$/.test(word) ? "" : " "}`;
}
