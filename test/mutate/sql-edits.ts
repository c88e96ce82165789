import type { Edit } from "./mutant.ts";
import { type Token, tokens } from "./sql-tokens.ts";

/** Words that end a condition, a list or a clause at their own depth. */
const clauseWords = new Set(
  "where and or on group order limit offset returning union except intersect having for from join left cross inner when then else end with as select set do using values window".split(
    " ",
  ),
);

type Operator = (all: readonly Token[], index: number, source: string) => Edit[];

/** All changes of one text of SQL. Many of them are no valid SQL: those are found by preparing them. */
export function sqlEdits(source: string, start: number, end: number): Edit[] {
  const all = tokens(source, start, end);
  const edits = all.flatMap((_, index) => operators.flatMap((operator) => operator(all, index, source)));
  return edits.filter((edit) => source.slice(edit.start, edit.end) !== edit.after);
}

const textOf = (token: Token | undefined): string => token?.text ?? "";

const replace = (operator: string, token: Token, after: string): Edit => ({
  operator,
  start: token.start,
  end: token.end,
  after,
});

/** Where what begins at `index` ends: at a clause word, a comma or a close of its depth. */
function endOfTerm(all: readonly Token[], index: number, source: string, isList = false): number {
  const depth = all[index]?.depth ?? 0;
  let inBetween = false;
  let cases = 0;
  let last = all[index]?.start ?? 0;
  for (const token of all.slice(index)) {
    if (token.depth < depth) break;
    if (token.depth === depth) {
      if (token.text === "case") cases += 1;
      if (cases === 0 && token.text === "between") inBetween = true;
      else if (cases === 0 && token.text === "and" && inBetween) inBetween = false;
      else if (cases === 0 && (clauseWords.has(token.text) || token.kind === "comma" || token.text === ";")) {
        if (!(isList && token.text === "from" && source.slice(last, token.start).includes("distinct"))) break;
      }
      if (token.text === "end") cases -= 1;
    }
    last = token.end;
  }
  return last;
}

const isBetween = (all: readonly Token[], index: number): boolean => {
  const depth = all[index]?.depth;
  for (let at = index - 1; at >= 0 && index - at < 12; at -= 1) {
    const token = all[at];
    if (token?.depth !== depth) continue;
    if (token?.text === "between") return true;
    if (clauseWords.has(textOf(token))) return false;
  }
  return false;
};

const dropCondition: Operator = (all, index, source) => {
  const token = all[index];
  const following = all[index + 1];
  if (token === undefined || following === undefined) return [];
  if (token.text === "and" && !isBetween(all, index)) {
    const end = endOfTerm(all, index + 1, source);
    return [{ operator: "drop a condition", start: token.start, end, after: "" }];
  }
  if (token.text === "where" || token.text === "on") {
    if (textOf(following) === "conflict") return [];
    const end = endOfTerm(all, index + 1, source);
    return [{ operator: "drop a condition", start: following.start, end, after: "true" }];
  }
  return [];
};

const comparisons: Readonly<Record<string, readonly string[]>> = {
  "=": ["<>"],
  "<>": ["="],
  "<": ["<=", ">"],
  "<=": ["<", ">"],
  ">": [">=", "<"],
  ">=": [">", "<"],
};

const flipComparison: Operator = (all, index) => {
  const token = all[index];
  // `set a = b` is an assignment, which an operator of its own changes.
  if (token?.kind !== "operator" || isAssignment(all, index)) return [];
  return (comparisons[token.text] ?? []).map((after) => replace("flip a comparison", token, after));
};

function isAssignment(all: readonly Token[], index: number): boolean {
  const depth = all[index]?.depth;
  for (let at = index - 1; at >= 0; at -= 1) {
    const token = all[at];
    if (token === undefined || token.depth > (depth ?? 0)) continue;
    if (token.depth < (depth ?? 0)) return false;
    if (token.text === "set") return true;
    if (token.kind !== "comma" && clauseWords.has(token.text)) return false;
    if (token.kind === "comma" || at === index - 1) continue;
  }
  return false;
}

const pairs: Readonly<Record<string, string>> = {
  least: "greatest",
  greatest: "least",
  min: "max",
  max: "min",
  asc: "desc",
  desc: "asc",
  true: "false",
  false: "true",
  bool_and: "bool_or",
  bool_or: "bool_and",
  or: "and",
  left: "inner",
};

const swapWord: Operator = (all, index) => {
  const token = all[index];
  if (token?.kind !== "word") return [];
  const after = pairs[token.text];
  if (after === undefined || (token.text === "left" && all[index + 1]?.text !== "join")) return [];
  return [replace("swap a word", token, after)];
};

const negate: Operator = (all, index) => {
  const token = all[index];
  if (token === undefined) return [];
  const [following, previous] = [textOf(all[index + 1]), textOf(all[index - 1])];
  if (token.text === "not" && following !== "materialized" && following !== "null")
    return [{ ...replace("negate a guard", token, ""), end: all[index + 1]?.start ?? token.end }];
  if (token.text === "exists" && previous !== "not" && previous !== "if")
    return [replace("negate a guard", token, "not exists")];
  if (token.text === "is" && (following === "null" || following === "distinct"))
    return [replace("negate a guard", token, "is not")];
  if (token.text === "not" && following === "null" && previous === "is")
    return [{ ...replace("negate a guard", token, ""), end: all[index + 1]?.start ?? token.end }];
  return [];
};

const shiftNumber: Operator = (all, index) => {
  const token = all[index];
  if (token?.kind === "number" && !/interval/.test(textOf(all[index - 1])))
    return [replace("shift a bound", token, String(Number(token.text) + 1))];
  if (token?.kind === "parameter" && textOf(all[index - 1]) === "limit")
    return [replace("shift a bound", token, `(${token.text}::int - 1)`)];
  if (token?.kind === "operator" && (token.text === "+" || token.text === "-"))
    return [replace("swap plus and minus", token, token.text === "+" ? "-" : "+")];
  return [];
};

const dropLock: Operator = (all, index, source) => {
  const token = all[index];
  if (token?.text === "skip" && all[index + 1]?.text === "locked")
    return [{ ...replace("drop SKIP LOCKED", token, ""), end: all[index + 1]?.end ?? token.end }];
  if (token?.text === "nowait") return [replace("drop NOWAIT", token, "")];
  if (token?.text !== "for" || !["update", "no", "share", "key"].includes(textOf(all[index + 1]))) return [];
  let end = token.end;
  for (const part of all.slice(index + 1)) {
    if (part.depth !== token.depth || !/^(no|key|update|share|of|skip|locked|nowait|[a-z_]+)$/.test(part.text)) break;
    end = part.end;
  }
  return [{ operator: "drop a lock clause", start: token.start, end, after: "" }].filter(
    (edit) => source.slice(edit.start, edit.end) !== "",
  );
};

/** An update, a delete or an insert ... select that finds no rows. */
const dropEffect: Operator = (all, index) => {
  const token = all[index];
  if (token === undefined || !["update", "delete", "insert"].includes(token.text)) return [];
  if (token.text === "update" && ["of", "skip"].includes(textOf(all[index + 1]))) return [];
  if (["for", "key", "do", "no"].includes(textOf(all[index - 1]))) return [];
  for (const part of all.slice(index + 1)) {
    if (part.depth < token.depth) return [];
    if (part.depth !== token.depth) continue;
    if (part.text === "where")
      return [{ operator: "drop an effect", start: part.end, end: part.end, after: " false and" }];
    if (["returning", "conflict", "group", "order", "values"].includes(part.text)) return [];
  }
  return [];
};

const swapCase: Operator = (all, index) => {
  const token = all[index];
  if (token?.text !== "when") return [];
  const first = all[index + 1];
  const then = all.findIndex((part, at) => at > index && part.depth === token.depth && part.text === "then");
  const condition = all[then - 1];
  if (first === undefined || condition === undefined) return [];
  const isSimple = textOf(all[index - 1]) !== "case" && condition === first && first.kind === "string";
  if (isSimple) return [];
  return [
    { operator: "never take a CASE arm", start: first.start, end: condition.end, after: "false" },
    { operator: "always take a CASE arm", start: first.start, end: condition.end, after: "true" },
  ];
};

/** One column less in a SET, one term less in an ORDER BY. */
const dropElement: Operator = (all, index, source) => {
  const token = all[index];
  const isSet = token?.text === "set";
  const isOrder = token?.text === "by" && textOf(all[index - 1]) === "order";
  if (token === undefined || (!isSet && !isOrder)) return [];
  const edits: Edit[] = [];
  let at = index + 1;
  let before: Token | null = null;
  for (;;) {
    const first = all[at];
    if (first === undefined) break;
    const end = endOfTerm(all, at, source, true);
    const next = all.findIndex((part) => part.start >= end);
    const comma = next >= 0 && all[next]?.kind === "comma" && all[next]?.depth === token.depth ? all[next] : null;
    const operator = isSet ? "drop a column from a SET" : "drop a term of an ORDER BY";
    if (comma !== null) edits.push({ operator, start: first.start, end: all[next + 1]?.start ?? comma.end, after: "" });
    else if (before !== null) edits.push({ operator, start: before.start, end, after: "" });
    if (comma === null) break;
    before = comma;
    at = next + 1;
  }
  return edits;
};

const dropCoalesce: Operator = (all, index, source) => {
  const token = all[index];
  const open = all[index + 1];
  if (token?.text !== "coalesce" || open?.kind !== "open") return [];
  const close = all.find((part) => part.start > open.start && part.kind === "close" && part.depth === open.depth);
  const comma = all.find((part) => part.start > open.start && part.kind === "comma" && part.depth === open.depth + 1);
  if (close === undefined || comma === undefined) return [];
  const after = source.slice(open.start, comma.start) + ")";
  return [{ operator: "drop a COALESCE", start: token.start, end: close.end, after }];
};

const operators: readonly Operator[] = [
  dropCondition,
  flipComparison,
  swapWord,
  negate,
  shiftNumber,
  dropLock,
  dropEffect,
  swapCase,
  dropElement,
  dropCoalesce,
];
