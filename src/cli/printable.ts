/** Stored text must not steer the terminal: a control character, or one that turns the direction, is shown as its code. */
export const printable = (text: string): string =>
  text.replaceAll(unsafe, (character) => `\\x${hexOf(character).padStart(2, "0")}`);

/** JSON escapes controls but not these, which a terminal obeys as well. */
export const printableJson = (json: string): string =>
  json.replaceAll(unsafe, (text) => `\\u${hexOf(text).padStart(4, "0")}`);

const unsafe = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
const hexOf = (character: string): string => (character.codePointAt(0) ?? 0).toString(16);
