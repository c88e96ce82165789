import { globSync, readFileSync } from "node:fs";
import { type Mutant, mutantOf, type Place } from "./mutant.ts";
import { sqlEdits } from "./sql-edits.ts";
import { type Rule, ruleFor } from "./rules.ts";
import { nameOf, parse, walk } from "./syntax.ts";

/** Every statement of the store. TypeScript is changed by Stryker: `stryker.config.json` beside this file. */
const statements = ["src/postgres/sql/*.ts", "src/admission/*.ts", "src/insight/*.ts"];
/** Texts that only tests use, or that one deployment runs with other rights. */
const without = /\/(test-clock|access|migration)\.ts$/;

/** Words that only SQL has, in a template of these files. */
const isSql = /\b(select|from|where|insert into|update|delete from|returning|as materialized|case when|set)\b/;

/** The words of a gate's condition are its columns. */
const isCondition = /^`(held_on|\(?(not )?[jlmr]\.[a-z_]+)\b/;

export function mutatedFiles(): string[] {
  const files = statements.flatMap((pattern) => {
    const found = globSync(pattern);
    if (found.length === 0) throw new Error(`test/mutate/places.ts: no file is ${pattern}`);
    return found;
  });
  return files.filter((file) => !without.test(file)).toSorted();
}

/** Every change of a file, with the rule that leaves it out. */
export function changesOf(file: string): { mutant: Mutant; rule: Rule | null }[] {
  const source = readFileSync(file, "utf8");
  const mutants = new Map<string, Mutant>();
  walk(parse(file, source), (node, around) => {
    if (node.type === "ThrowStatement") return false;
    const text = source.slice(node.start, node.end);
    if (node.type !== "TemplateLiteral" || (!isSql.test(text) && !isCondition.test(text))) return true;
    const place: Place = { file, name: nameOf(node, around), start: node.start + 1, end: node.end - 1 };
    for (const edit of sqlEdits(source, place.start, place.end)) {
      const mutant = mutantOf(source, place, edit);
      mutants.set(mutant.key, mutant);
    }
    return true;
  });
  return [...mutants.values()].map((mutant) => ({ mutant, rule: ruleFor(mutant) }));
}
