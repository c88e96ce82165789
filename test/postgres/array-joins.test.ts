import { readdirSync } from "node:fs";
import { expect, test } from "vitest";

const folder = new URL("../../src/postgres/sql/", import.meta.url);

async function texts(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const file of readdirSync(folder)) {
    const exported = (await import(new URL(file, folder).href)) as Record<string, { name?: string; text?: string }>;
    for (const { name, text } of Object.values(exported).filter((value) => value !== null)) {
      if (typeof name === "string" && typeof text === "string") found.set(name, text);
    }
  }
  return found;
}

/** What stands between each pair of parentheses, without what stands in those inside of it. */
function levelsOf(text: string): readonly string[] {
  const levels: string[] = [];
  const open = [""];
  for (const character of text) {
    if (character === ")") levels.push(open.pop() ?? "");
    open.push(`${open.pop() ?? ""}${character}`);
    if (character === "(") open.push("");
  }
  return [...levels, ...open];
}

/** Columns that are compared with an array, and beside it with a column of rows that are no table's: those of the array. */
function arrayJoins(text: string): readonly string[] {
  const tables = new Set([...text.matchAll(/(?:belfry\.|pg_)\w+ (?:as )?(\w+)/g)].map(([, alias = ""]) => alias));
  const isOfTable = (column: string): boolean => tables.has(column.split(".")[0] ?? "");
  return levelsOf(text).flatMap((level) => {
    const compared = [...level.matchAll(/([\w.]+) = any\(/g)].map(([, column = ""]) => column);
    const pairs = [...level.matchAll(/(\w+\.\w+) = (\w+\.\w+)/g)].flatMap(([, a = "", b = ""]) => [
      [a, b],
      [b, a],
    ]);
    const joined = pairs.flatMap(([a = "", b = ""]) => (isOfTable(b) ? [] : [a]));
    return compared.filter((column) =>
      joined.some((other) => other === column || (!column.includes(".") && other.endsWith(`.${column}`))),
    );
  });
}

test("the rule sees a join of an array with itself, and only that", () => {
  expect(arrayJoins("update s from m where s.id = any($1::int[]) and s.id = m.id")).toEqual(["s.id"]);
  expect(arrayJoins("select (select from s join m on m.id = s.id where s.id = any(array(select 1)))")).toEqual([
    "s.id",
  ]);
  expect(arrayJoins("update s from m where id = any($1) and s.id = m.id")).toEqual(["id"]);
  expect(arrayJoins("update s from m where s.id = any($1) and s.lease = m.lease")).toEqual([]);
  expect(arrayJoins("select from belfry.g g join belfry.s s on s.id = g.id where g.id = any($1)")).toEqual([]);
  expect(arrayJoins("with m as (select * from j where j.id = any($1)) update s from m where s.id = m.id")).toEqual([]);
});

// Each probe of a nested loop would compare the whole array: rows times rows, on a table without statistics.
test("no statement joins an array with itself", async () => {
  const found = [...(await texts())].flatMap(([name, text]) => arrayJoins(text).map((column) => `${name}: ${column}`));
  expect(found).toEqual([]);
});
