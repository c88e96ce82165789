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
  const kept = new Map<string, number>();
  for (const id of ids) {
    const place = before.get(id);
    if (place !== undefined) kept.set(id, place);
  }
  const taken = new Set(kept.values());
  const itsOwn = before.get(spared ?? "");
  if (itsOwn !== undefined) taken.add(itsOwn);
  let next = 0;
  const free = (): number => {
    while (taken.has(next)) next += 1;
    return next++;
  };
  return new Map(ids.map((id) => [id, kept.get(id) ?? free()]));
}
