import { expect, test } from "vitest";
import { formatDuration } from "../../src/calendar/duration.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { readSource, sourceFiles } from "./imports.ts";

const rowOf = /^\| `(\w+)` +\| ([^|]+?) +\| [^|]+\|$/;

/** A time in milliseconds is written as a duration, anything else as a number; the last instant as it is. */
function written(name: string, value: number): string {
  if (name === "dueAtMsMax") return new Date(value).toISOString();
  return /Ms(Min|Max|Default)?$/.test(name) ? formatDuration(value) : value.toLocaleString("en");
}

test("docs/limits.md lists every bound that users meet, with its value", () => {
  const rows = readSource("docs/limits.md")
    .split("\n")
    .flatMap((line) => {
      const [, name, value] = rowOf.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    });
  const expected = Object.entries(contractLimits).map(([name, value]) => [name, written(name, value)] as const);
  expect(rows).toEqual(expected);
});

test("minutes, hours and days are defined once in the product", () => {
  const defining = sourceFiles().filter(
    (file) =>
      /^src\/(machine|calendar|define|admission|run|schedule|insight|postgres|outside|aws|api)\//.test(file) &&
      /const (minute|hour|day)Ms = /.test(readSource(file)),
  );
  expect(defining).toEqual(["src/machine/units.ts"]);
});
