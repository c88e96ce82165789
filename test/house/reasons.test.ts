import { expect, test } from "vitest";
import { reasonText } from "../../src/console/language/spoken.ts";
import { reasons } from "../../src/machine/reasons.ts";
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

test("the console has words for what it shows of them", () => {
  expect(known.filter((reason) => reasonText(reason) !== reason.replaceAll("-", " ")).length).toBeGreaterThan(20);
  expect(reasonText(reasons.attemptsUsedUp)).toBe("no attempt was left");
});
