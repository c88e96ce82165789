const narrowest = 10;
/** Two borders, and the space beside each cell. */
const frameOf = (cells: number): number => cells * 3 + 1;

type Rows = readonly (readonly string[])[];

/**
 * A table no wider than the terminal. The first column names the row, so it stays whole; of the others the widest gives way
 * first, and where all are narrow the last ones are `left` out.
 */
export function fitted(
  names: readonly string[],
  cells: Rows,
  columns: number,
): { readonly head: readonly string[]; readonly rows: Rows; readonly left: readonly string[] } {
  const whole = names.map((name, index) => Math.max(widthOf(name), ...cells.map((row) => widthOf(row[index] ?? ""))));
  const least = whole.map((width, index) =>
    index === 0 ? width : Math.min(width, Math.max(narrowest, widthOf(names[index] ?? ""))),
  );
  let kept = names.length;
  while (kept > 2 && sum(least.slice(0, kept)) + frameOf(kept) > columns) kept -= 1;
  const widths = whole.slice(0, kept);
  for (let over = sum(widths) + frameOf(kept) - columns; over > 0; over -= 1) {
    const room = widths.map((width, index) => (width > (least[index] ?? 0) ? width : 0));
    const widest = room.indexOf(Math.max(...room));
    if (room[widest] === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return {
    head: names.slice(0, kept),
    rows: cells.map((row) => row.slice(0, kept).map((text, index) => cut(text, widths[index] ?? text.length))),
    left: names.slice(kept),
  };
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
