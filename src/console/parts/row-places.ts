/**
 * Which of the elements that exist shows which row. What was shown before keeps its element; what is new takes one that
 * became free, so that a jump through a long table changes the text of elements instead of making new ones.
 * The element of `spared` is given to no other row.
 */
export function placesOf(
  ids: readonly string[],
  before: ReadonlyMap<string, number>,
  spared?: string,
): ReadonlyMap<string, number> {
  const taken = new Set([...ids, spared ?? ""].map((id) => before.get(id)));
  let next = 0;
  const free = (): number => {
    while (taken.has(next)) next += 1;
    return next++;
  };
  return new Map(ids.map((id) => [id, before.get(id) ?? free()]));
}
