/** Up to three of `names` that someone who wrote `wanted` may have meant, nearest first. */
export function closest(wanted: string, names: Iterable<string>): readonly string[] {
  const word = wanted.toLowerCase().slice(0, 64);
  const far = Math.max(2, Math.floor(word.length / 3));
  const near = (name: string): number =>
    word !== "" && name.toLowerCase().includes(word) ? 0 : distance(word, name.toLowerCase());
  return [...names]
    .map((name) => ({ name, away: near(name) }))
    .filter(({ away }) => away <= far)
    .toSorted((a, b) => a.away - b.away || a.name.localeCompare(b.name, "en"))
    .slice(0, 3)
    .map(({ name }) => name);
}

/** Levenshtein: how many letters to insert, remove or change. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [line, letter] of [...a].entries()) {
    const next = [line + 1];
    for (let column = 1; column <= b.length; column += 1) {
      const change = (row[column - 1] ?? 0) + (letter === b[column - 1] ? 0 : 1);
      next.push(Math.min(change, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? b.length;
}
