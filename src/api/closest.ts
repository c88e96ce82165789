import { editDistance } from "../calendar/edit-distance.ts";

/** Up to three of `names` that someone who wrote `wanted` may have meant, nearest first. */
export function closest(wanted: string, names: Iterable<string>): readonly string[] {
  const word = wanted.toLowerCase().slice(0, 64);
  const far = Math.max(2, Math.floor(word.length / 3));
  const near = (name: string): number =>
    word !== "" && name.toLowerCase().includes(word) ? 0 : editDistance(word, name.toLowerCase());
  return [...names]
    .map((name) => ({ name, away: near(name) }))
    .filter(({ away }) => away <= far)
    .toSorted((a, b) => a.away - b.away || a.name.localeCompare(b.name, "en"))
    .slice(0, 3)
    .map(({ name }) => name);
}
