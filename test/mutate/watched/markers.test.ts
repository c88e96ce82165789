import { expect, test } from "vitest";
import { sqlEdits } from "../sql-edits.ts";
import { mutantOf } from "../mutant.ts";
import { marked, type Numbered, numbersIn, plantedIn, unmarked } from "./markers.ts";

const source = "const sql = `update a set b = b + 1, c = 2 where d < $1 and exists (select from e) returning b`;";
const place = { file: "a.ts", name: "sql", start: source.indexOf("`") + 1, end: source.lastIndexOf("`") };
const mutants: readonly Numbered[] = sqlEdits(source, place.start, place.end).map((edit, at) => ({
  number: at + 1,
  mutant: mutantOf(source, place, edit),
}));
const inTemplate = (text: string): string => text.slice(text.indexOf("`") + 1, text.lastIndexOf("`"));

test("a marked text without its marks is the text", () => {
  const text = inTemplate(marked(source, mutants));
  expect(unmarked(text)).toBe(inTemplate(source));
  expect(numbersIn(text).toSorted((a, b) => a - b)).toEqual(mutants.map(({ number }) => number));
});

test("each mutant that is planted in the marked text is the changed source", () => {
  const text = inTemplate(marked(source, mutants));
  expect(mutants.length).toBeGreaterThan(8);
  for (const one of mutants) {
    const { start, end, after } = one.mutant;
    expect(plantedIn(text, one)).toBe(inTemplate(source.slice(0, start) + after + source.slice(end)));
  }
});
