/** Levenshtein: how many letters to insert, remove or change. */
export function editDistance(a: string, b: string): number {
  const letters = [...b];
  let row = letters.map((_, column) => column + 1);
  for (const [line, letter] of [...a].entries()) {
    let left = Number.POSITIVE_INFINITY;
    let diagonal = line;
    row = row.map((above, column) => {
      left = Math.min(left + 1, above + 1, diagonal + (letter === letters[column] ? 0 : 1));
      diagonal = above;
      return left;
    });
  }
  return row.at(-1) ?? a.length;
}
