const narrowest = 8;
/** Two borders, and the space beside each cell. */
const frameOf = (cells: number): number => cells * 3 + 1;

/** The rows cut so that the table is no wider than the terminal: the widest column gives way first. */
export function fitted(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number,
): readonly (readonly string[])[] {
  const widths = head.map((name, index) => Math.max(widthOf(name), ...rows.map((row) => widthOf(row[index] ?? ""))));
  for (let over = sum(widths) + frameOf(head.length) - columns; over > 0; over -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= Math.max(narrowest, widthOf(head[widest] ?? ""))) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return rows.map((row) => row.map((text, index) => cut(text, widths[index] ?? text.length)));
}

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  for (const character of text) {
    if (widthOf(kept) + widthOf(character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** Cells of a terminal that it takes: two for wide letters and emoji. */
export const widthOf = (text: string): number =>
  [...text].reduce((total, each) => total + (wide.test(each) ? 2 : 1), 0);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
