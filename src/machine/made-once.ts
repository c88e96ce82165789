/** What was made for a key before, or else what `make` makes. A cache with `max` entries is emptied first, so it stays bounded. */
export function madeOnce<K, V extends object>(
  cache: Map<K, V>,
  key: K,
  make: () => V,
  max = Number.POSITIVE_INFINITY,
): V {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make();
  if (cache.size >= max) cache.clear();
  cache.set(key, made);
  return made;
}
