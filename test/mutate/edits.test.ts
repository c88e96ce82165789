import { expect, test } from "vitest";
import { coreEdits } from "./core-edits.ts";
import { type Edit, mutated } from "./mutant.ts";
import { sqlEdits } from "./sql-edits.ts";
import { isFunction, parse, walk } from "./syntax.ts";

const applied = (source: string, edits: readonly Edit[]): string[] =>
  edits.map((edit) => `${edit.operator}: ${mutated(source, edit).replaceAll(/\s+/g, " ").trim()}`);

const ofSql = (text: string): string[] => applied(text, sqlEdits(text, 0, text.length));

function ofCore(text: string): string[] {
  const edits: Edit[] = [];
  walk(parse("x.ts", text), (node) => {
    if (isFunction(node)) edits.push(...coreEdits(text, node, isFunction));
    return true;
  });
  return applied(text, edits);
}

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

test("conditions, guards, bounds and elements of the core change; types, texts and errors do not", () => {
  const text =
    "const f = (a: 1 | 2, b: boolean): string[] => { if (!b && a >= 2) return [`k`, `l`]; throw new Error(`${a + 1}`); };";
  const found = ofCore(text);
  expect(found).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^drop a guard: .* if \(false\) return/),
      expect.stringMatching(/^always pass a guard: .* if \(true\) return/),
      expect.stringMatching(/^drop a condition: .* if \(a >= 2\)/),
      expect.stringMatching(/^negate a guard: .* if \(b && a >= 2\)/),
      expect.stringMatching(/^flip a comparison: .* a > 2\)/),
      expect.stringMatching(/^shift a bound: .* a >= 3\)/),
      expect.stringMatching(/^drop an element: .* \[`l`\]/),
    ]),
  );
  expect(found.every((each) => each.includes("a: 1 | 2") && each.includes("${a + 1}"))).toBe(true);
});
