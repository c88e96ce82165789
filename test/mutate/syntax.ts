import { parseSync } from "vite";

/** A node of the parsed source, as far as it is read here. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

export function parse(file: string, source: string): Node {
  const { program, errors } = parseSync(file, source, { lang: "ts" });
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]?.message ?? ""}`);
  return program as unknown as Node;
}

const childrenOf = (node: Node): Node[] =>
  Object.entries(node).flatMap(([field, value]) =>
    field === "parent" ? [] : Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );

/** Calls `visit` for the node and all in it, outermost first, with what surrounds it; false leaves out what is inside. */
export function walk(
  node: Node,
  visit: (node: Node, around: readonly Node[]) => boolean,
  around: readonly Node[] = [],
): void {
  if (!visit(node, around)) return;
  for (const child of childrenOf(node)) walk(child, visit, [...around, node]);
}

const child = (node: Node, field: string): Node | null => {
  const value = node[field];
  return isNode(value) ? value : null;
};

/** The name that a function, or what a literal stands in, has in its file: of its variable, property or declaration. */
export function nameOf(node: Node, around: readonly Node[]): string {
  for (const part of [node, ...around.toReversed()]) {
    const named = child(part, "id") ?? (part.type === "Property" ? child(part, "key") : null);
    if (named !== null && typeof named["name"] === "string" && part.type !== "Identifier") return named["name"];
  }
  return "module";
}
