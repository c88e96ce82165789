import type { Edit } from "./mutant.ts";
import { child, childrenOf, type Node, walk } from "./syntax.ts";

/** All changes of one function of the core; functions inside it are places of their own. */
export function coreEdits(source: string, body: Node, isOther: (node: Node) => boolean): Edit[] {
  const edits: Edit[] = [];
  walk(body, (node) => {
    if (node !== body && isOther(node)) return false;
    // Types leave nothing behind, and what an error says is not a decision.
    if (node.type.startsWith("TS") && node.type !== "TSAsExpression" && node.type !== "TSSatisfiesExpression")
      return false;
    if (node.type === "ThrowStatement" || node.type === "TemplateLiteral") return false;
    for (const edit of editsOf(node, source)) edits.push(edit);
    return true;
  });
  return edits.filter((edit) => source.slice(edit.start, edit.end) !== edit.after);
}

const flips: Readonly<Record<string, readonly string[]>> = {
  "===": ["!=="],
  "!==": ["==="],
  "<": ["<=", ">"],
  "<=": ["<", ">"],
  ">": [">=", "<"],
  ">=": [">", "<"],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
};

function editsOf(node: Node, source: string): Edit[] {
  const text = (part: Node): string => source.slice(part.start, part.end);
  const whole = (operator: string, after: string): Edit => ({ operator, start: node.start, end: node.end, after });
  const [left, right] = [child(node, "left"), child(node, "right")];
  switch (node.type) {
    case "BinaryExpression":
      if (left === null || right === null || isText(left) || isText(right)) return [];
      return (flips[String(node["operator"])] ?? []).map((after) =>
        whole(/[<>=]/.test(after) ? "flip a comparison" : "swap an operator", `${text(left)} ${after} ${text(right)}`),
      );
    case "LogicalExpression":
      if (left === null || right === null) return [];
      return [whole("drop a condition", text(right)), whole("drop a condition", text(left))];
    case "UnaryExpression": {
      const argument = child(node, "argument");
      return node["operator"] === "!" && argument !== null ? [whole("negate a guard", text(argument))] : [];
    }
    case "ConditionalExpression":
      return choices(node, text, whole);
    case "IfStatement":
      return guards(node, text, whole);
    case "Literal":
      return literals(node, whole);
    case "ArrayExpression":
      return elements(node);
    case "CallExpression":
      return calls(node, source);
    case "SpreadElement":
      return [];
    default:
      return [];
  }
}

const isText = (node: Node): boolean =>
  node.type === "TemplateLiteral" ||
  (node.type === "Literal" && typeof node["value"] === "string" && node["value"] === "");

type Text = (node: Node) => string;
type Whole = (operator: string, after: string) => Edit;

function choices(node: Node, text: Text, whole: Whole): Edit[] {
  const [then, otherwise] = [child(node, "consequent"), child(node, "alternate")];
  if (then === null || otherwise === null) return [];
  return [whole("always take a choice", `(${text(then)})`), whole("never take a choice", `(${text(otherwise)})`)];
}

function guards(node: Node, text: Text, whole: Whole): Edit[] {
  const test = child(node, "test");
  const then = child(node, "consequent");
  if (test === null || then === null) return [];
  const at = (operator: string, after: string): Edit => ({ operator, start: test.start, end: test.end, after });
  const isThrow = /^\{?\s*throw\b/.test(text(then));
  const never = at("drop a guard", "false");
  return isThrow
    ? [never]
    : [
        never,
        at("always pass a guard", "true"),
        ...(node["alternate"] === null ? [] : [whole("drop an else", `if (${text(test)}) ${text(then)}`)]),
      ];
}

function literals(node: Node, whole: Whole): Edit[] {
  if (typeof node["value"] === "boolean") return [whole("swap a boolean", String(!node["value"]))];
  if (typeof node["value"] === "number") return [whole("shift a bound", String(node["value"] + 1))];
  return [];
}

/** An element less: of a key, of a list of states. */
function elements(node: Node): Edit[] {
  const parts = childrenOf(node);
  return parts.map((part, index) => {
    const next = parts[index + 1];
    const before = parts[index - 1];
    const operator = "drop an element";
    if (next !== undefined) return { operator, start: part.start, end: next.start, after: "" };
    return { operator, start: before?.end ?? part.start, end: part.end, after: "" };
  });
}

const swaps: Readonly<Record<string, string>> = {
  max: "min",
  min: "max",
  floor: "ceil",
  ceil: "floor",
  some: "every",
  every: "some",
};

function calls(node: Node, source: string): Edit[] {
  const callee = child(node, "callee");
  const property = callee?.type === "MemberExpression" ? child(callee, "property") : null;
  if (callee === null || property === null) return [];
  const name = source.slice(property.start, property.end);
  const after = swaps[name];
  if (after !== undefined) return [{ operator: "swap a call", start: property.start, end: property.end, after }];
  const object = child(callee, "object");
  if ((name === "filter" || name === "toSorted" || name === "toReversed") && object !== null)
    return [{ operator: `drop a ${name}`, start: object.end, end: node.end, after: "" }];
  return [];
}
