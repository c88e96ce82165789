/** What a task of the case `graphs` does, by seed: its app and its oracle work it out apart from each other. */
export type Fate = "succeed" | "fail" | "not-taken" | "flaky";

/** 4 % fail for good, 4 % have a condition that says no, 6 % fail once. */
export function fateOf(seed: number, file: string, task: string): Fate {
  const roll = hash(`${seed}/${file}/${task}`) / 2 ** 32;
  if (roll < 0.04) return "fail";
  if (roll < 0.08) return "not-taken";
  return roll < 0.14 ? "flaky" : "succeed";
}

/** FNV-1a, then mixed: names that differ in one letter must differ in their fate. */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (const letter of text) state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x7feb352d);
  state = Math.imul(state ^ (state >>> 15), 0x846ca68b);
  return (state ^ (state >>> 16)) >>> 0;
}
