import { expect, test } from "vitest";
import { type Edit, mutated } from "./mutant.ts";
import { sqlEdits } from "./sql-edits.ts";

const applied = (source: string, edits: readonly Edit[]): string[] =>
  edits.map((edit) => `${edit.operator}: ${mutated(source, edit).replaceAll(/\s+/g, " ").trim()}`);

const ofSql = (text: string): string[] => applied(text, sqlEdits(text, 0, text.length));

test("each condition of a statement is dropped, and each comparison flipped", () => {
  expect(ofSql("select 1 from t where a = $1 and b >= now()")).toEqual(
    expect.arrayContaining([
      "drop a condition: select 1 from t where true and b >= now()",
      "drop a condition: select 1 from t where a = $1",
      "flip a comparison: select 1 from t where a <> $1 and b >= now()",
      "flip a comparison: select 1 from t where a = $1 and b > now()",
      "flip a comparison: select 1 from t where a = $1 and b < now()",
      "shift a bound: select 2 from t where a = $1 and b >= now()",
    ]),
  );
});

test("the words of BETWEEN and what stands in parentheses belong to one condition", () => {
  expect(ofSql("select from t where n between 1 and 2 and (a is null or b)")).toEqual(
    expect.arrayContaining([
      "drop a condition: select from t where n between 1 and 2",
      "negate a guard: select from t where n between 1 and 2 and (a is not null or b)",
      "swap a word: select from t where n between 1 and 2 and (a is null and b)",
    ]),
  );
});

test("locks, the effect of a CTE, columns of a SET and terms of an ORDER BY are dropped", () => {
  const text = "with c as (delete from u where x order by y) update t set a = 1, b = f(1, 2) from c where t.id = c.id";
  expect(ofSql(text)).toEqual(
    expect.arrayContaining([
      expect.stringContaining("drop an effect: with c as (delete from u where false and x"),
      expect.stringContaining("set b = f(1, 2) from c"),
      expect.stringContaining("set a = 1 from c"),
    ]),
  );
  expect(ofSql("select from t order by a, b for no key update of t skip locked")).toEqual(
    expect.arrayContaining([
      "drop a lock clause: select from t order by a, b",
      "drop SKIP LOCKED: select from t order by a, b for no key update of t",
      "drop a term of an ORDER BY: select from t order by b for no key update of t skip locked",
      "drop a term of an ORDER BY: select from t order by a for no key update of t skip locked",
    ]),
  );
});

test("what a template puts in stays as it is", () => {
  expect(
    ofSql("select ${a === 1 ? `x` : `y`} from t where ${condition} and b").every((text) => text.includes("a === 1")),
  ).toBe(true);
});
