import { globSync, readFileSync } from "node:fs";
import { coreEdits } from "./core-edits.ts";
import { type Edit, type Mutant, mutantOf, type Place } from "./mutant.ts";
import { sqlEdits } from "./sql-edits.ts";
import { leftOut, type Rule, ruleFor } from "./rules.ts";
import { isFunction, nameOf, type Node, parse, walk } from "./syntax.ts";

/** Every statement of the store, and every decision: states, calendars, locks, passes, claims, definitions; roles, scopes, cursors. */
const sql = ["src/adapters/postgres/sql/*.ts"];
const core = ["src/core/*/*.ts", "src/api/*.ts"];
/** Texts that only tests use, or that one deployment runs with other rights. */
const without = /\/(test-clock|verify-events|schema|access|migration)\.ts$|-limits\.ts$/;

/** Streams and forecasts: many of their mutants survive, and the tests that would find them are not written yet. */
const notYet = /^src\/api\/(event-source|live-feed|expected-load|in-background|bulk-runner|schedule-refusal|view)\.ts$/;

/** Words that only SQL has, in a template of these files. */
const isSql = /\b(select|from|where|insert into|update|delete from|returning|as materialized|case when|set)\b/;

export const mutatedFiles = (): string[] =>
  [...sql, ...core]
    .flatMap(filesOf)
    .filter((file) => !without.test(file) && !notYet.test(file))
    .toSorted();

/** @throws Error for a pattern that finds none: they have other names by now, and would be left out unseen. */
export function filesOf(pattern: string): readonly string[] {
  const files = globSync(pattern);
  if (files.length === 0) throw new Error(`test/mutate/places.ts: no file is ${pattern}`);
  return files;
}

/** Every change of a file, with the rule that leaves it out. */
export function changesOf(file: string): { mutant: Mutant; rule: Rule | null }[] {
  const source = readFileSync(file, "utf8");
  const program = parse(file, source);
  const mutants = file.includes("/sql/") ? sqlMutants(file, source, program) : coreMutants(file, source, program);
  const ranges = leftOut(source, program);
  return mutants.map((mutant) => ({ mutant, rule: ruleFor(mutant, ranges) }));
}

function sqlMutants(file: string, source: string, program: Node): Mutant[] {
  const found: Mutant[] = [];
  walk(program, (node, around) => {
    if (node.type !== "TemplateLiteral" || !isSql.test(source.slice(node.start, node.end))) return true;
    const place: Place = { file, name: nameOf(node, around), start: node.start + 1, end: node.end - 1 };
    found.push(...made(source, place, sqlEdits(source, place.start, place.end)));
    return true;
  });
  return found;
}

/** Functions in their file, each with its body; what a function contains in another named function is that one's. */
function coreMutants(file: string, source: string, program: Node): Mutant[] {
  const found: Mutant[] = [];
  walk(program, (node, around) => {
    if (!isFunction(node)) return true;
    const place: Place = { file, name: nameOf(node, around), start: node.start, end: node.end };
    found.push(...made(source, place, coreEdits(source, node, isFunction)));
    return true;
  });
  return found;
}

function made(source: string, place: Place, edits: readonly Edit[]): Mutant[] {
  const mutants = new Map<string, Mutant>();
  for (const edit of edits) {
    const mutant = mutantOf(source, place, edit);
    mutants.set(mutant.key, mutant);
  }
  return [...mutants.values()];
}
