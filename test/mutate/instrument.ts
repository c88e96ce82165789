import { child, isFunction, nameOf, parse, walk } from "./syntax.ts";

/** Where an instrumented module writes what it reaches: `hits.setup.ts` makes the set anew for each test file. */
declare global {
  var belfryHits: Set<string> | undefined;
}

const statementFile = "src/adapters/postgres/statement.ts";

/** `execute` names the statement that it sends. */
const executeStart = /(export async function execute<R>\([^{]*\{ name,[^}]*\}[^{]*\{\n)/;

/** The source that says, while tests run, which statement is sent and which function of a mutated file is entered. */
export function instrumented(file: string, source: string, isMutated: boolean): string {
  if (file === statementFile) {
    if (!executeStart.test(source)) throw new Error(`${statementFile}: execute is not where it is instrumented`);
    return source.replace(executeStart, "$1  globalThis.belfryHits?.add(`sql:${name}`);\n");
  }
  return isMutated ? withHits(file, source) : source;
}

/** What a coverage run calls a function. Functions of one name in a file count as one, so that an edit above moves nothing. */
export const functionHit = (file: string, name: string): string => `${file}#${name}`;

/** All that a file can be entered by. */
export function functionHits(file: string, source: string): ReadonlySet<string> {
  const hits = new Set<string>();
  walk(parse(file, source), (node, around) => {
    if (isFunction(node)) hits.add(functionHit(file, nameOf(node, around)));
    return true;
  });
  return hits;
}

function withHits(file: string, source: string): string {
  const inserts: { at: number; text: string }[] = [];
  walk(parse(file, source), (node, around) => {
    const body = isFunction(node) ? child(node, "body") : null;
    if (body === null) return true;
    const hit = `globalThis.belfryHits?.add(${JSON.stringify(functionHit(file, nameOf(node, around)))})`;
    if (body.type === "BlockStatement") inserts.push({ at: body.start + 1, text: `${hit};` });
    else inserts.push({ at: body.start, text: `(${hit}, ` }, { at: body.end, text: ")" });
    return true;
  });
  // From the end, so that no place moves before it is used; what ends at a place closes before what begins there.
  return inserts
    .map((insert, order) => ({ ...insert, order }))
    .toSorted((a, b) => b.at - a.at || b.order - a.order)
    .reduce((text, { at, text: added }) => text.slice(0, at) + added + text.slice(at), source);
}
