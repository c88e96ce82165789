import { expect, test } from "vitest";
import { reasons } from "../../src/machine/reasons.ts";
import { placesIn, waitTexts } from "../../src/machine/wait-texts.ts";
import { koreanWaitTexts } from "../../src/machine/wait-texts-ko.ts";
import { readSource, sourceFiles } from "./imports.ts";

const known: readonly string[] = Object.values(reasons);

test("each statement that writes a reason writes one of the table", () => {
  const written = sourceFiles()
    .filter((file) => file.startsWith("src/postgres/sql/"))
    .flatMap((file) => [...readSource(file).matchAll(/'([a-z -]+)' as reason\b|\breason = '([a-z -]+)'/g)])
    .map((match) => match[1] ?? match[2] ?? "");
  expect(written.length).toBeGreaterThan(8);
  expect(written.filter((reason) => !known.includes(reason))).toEqual([]);
});

test("each piece of a sentence has the same places in Korean", () => {
  const placesOf = (text: string): readonly string[] => placesIn(text).filter((_, index) => index % 2 === 1);
  const of = (texts: Readonly<Record<string, string>>) =>
    Object.entries(texts).map(([name, text]) => [name, placesOf(text).toSorted()]);
  expect(of(koreanWaitTexts)).toEqual(of(waitTexts));
});
