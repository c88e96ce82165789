import { type Edit, type Mutant, mutated } from "../mutant.ts";
import { child, childrenOf, isFunction, type Node, parse, walk } from "../syntax.ts";

/** A module in which each mutant can be switched on while it runs. */
export interface Switched {
  readonly code: string;
  /** By number of a function: the keys of the mutants in its body. */
  readonly functions: readonly (readonly string[])[];
  /** Keys of mutants that no function contains: their text is evaluated before a test could switch it. */
  readonly fixed: readonly string[];
}

interface Insert {
  readonly at: number;
  readonly text: string;
  readonly isEnd: boolean;
  /** Of an end: where what it closes begins. */
  readonly from?: number;
}

/** What a changed module calls its own switch. */
const own = "belfryHere";

const tick = `${own}.tick();`;

/**
 * Puts the body of each function once more into it for each of its mutants, with that one change, and an entry that chooses.
 * A function inside another has an entry of its own, so that one made before a mutant was switched on changes too.
 */
export function switched(file: string, source: string, mutants: readonly Mutant[]): Switched {
  const all = withAll(file, source, mutants);
  if (parses(file, all.code)) return all;
  const possible = mutants.filter((mutant) => parses(file, mutated(source, mutant)));
  const { code, functions, fixed } = withAll(file, source, possible);
  // No test that loads it would run, and every mutant would look as if none had reached it.
  if (!parses(file, code)) throw new Error(`${file}: the module that contains all mutants does not parse`);
  const broken = mutants.filter((mutant) => !possible.includes(mutant));
  return { code, functions, fixed: [...fixed, ...broken.map(({ key }) => key)] };
}

function withAll(file: string, source: string, mutants: readonly Mutant[]): Switched {
  const program = parse(file, source);
  const bodies = bodiesOf(program);
  const byBody = Map.groupBy(mutants, (mutant) => innermost(bodies, mutant));
  const fixed = (byBody.get(null) ?? []).map(({ key }) => key);
  const ticks = ticksOf(program);
  const inserts = [...ticks];
  const functions: string[][] = [];
  for (const body of bodies) {
    const inside = byBody.get(body) ?? [];
    if (inside.length === 0) continue;
    const entry = entryOf(source, body, ticks, { number: functions.length, mutants: inside });
    functions.push(inside.map(({ key }) => key));
    if (body.type === "BlockStatement") inserts.push({ at: body.start + 1, text: entry, isEnd: false });
    else
      inserts.push(
        { at: body.start, text: `{${entry}return (`, isEnd: false },
        { at: body.end, text: "\n);}", isEnd: true },
      );
  }
  const kept = cachesOf(program).map((name) => `${own}.caches.push(${name});`);
  const start = `const ${own} = globalThis.belfrySwitch.of(${JSON.stringify(file)});`;
  return { code: `${start}${withInserts(source, inserts)}\n${kept.join("")}\n`, functions, fixed };
}

/** Of all functions, outermost first. */
function bodiesOf(program: Node): Node[] {
  const bodies: Node[] = [];
  walk(program, (node) => {
    const body = isFunction(node) ? child(node, "body") : null;
    if (body !== null) bodies.push(body);
    return true;
  });
  return bodies;
}

const innermost = (bodies: readonly Node[], { start, end }: Edit): Node | null =>
  bodies.findLast((body) => body.start <= start && end <= body.end) ?? null;

function parses(file: string, source: string): boolean {
  try {
    parse(file, source);
    return true;
  } catch {
    return false;
  }
}

interface Chosen {
  readonly number: number;
  readonly mutants: readonly Mutant[];
}

function entryOf(source: string, body: Node, ticks: readonly Insert[], { number, mutants }: Chosen): string {
  const isBlock = body.type === "BlockStatement";
  const cases = mutants.map((mutant) => {
    const inside = ticks.filter(({ at }) => body.start <= at && at <= body.end);
    const text = changed(source, body, mutant, inside);
    return `case ${JSON.stringify(mutant.key)}: ${isBlock ? `${text} return;` : `return (${text}\n);`}`;
  });
  return `${own}.hits[${number}] = true; if (${own}.at === ${number}) switch (${own}.key) {${cases.join("\n")}}\n`;
}

/** The text of a body with one change, and ticks wherever the change leaves the text as it is. */
function changed(source: string, body: Node, edit: Edit, ticks: readonly Insert[]): string {
  const before = ticks.filter(({ at }) => at <= edit.start);
  const isGone = ({ from = 0 }: Insert): boolean => edit.start < from && from < edit.end;
  const after = ticks.filter((tick) => tick.at >= edit.end && tick.at > edit.start && !isGone(tick));
  const part = (start: number, end: number, inserts: readonly Insert[]): string =>
    withInserts(
      source.slice(start, end),
      inserts.map((insert) => ({ ...insert, at: insert.at - start })),
    );
  return part(body.start, edit.start, before) + edit.after + part(edit.end, body.end, after);
}

const loops = new Set(["ForStatement", "ForInStatement", "ForOfStatement", "WhileStatement", "DoWhileStatement"]);

/** Each turn of a loop and each call of a function counts, so that one without an end is noticed. */
function ticksOf(program: Node): Insert[] {
  const inserts: Insert[] = [];
  walk(program, (node) => {
    const body = loops.has(node.type) || isFunction(node) ? child(node, "body") : null;
    if (body?.type === "BlockStatement") inserts.push({ at: body.start + 1, text: tick, isEnd: false });
    else if (body !== null && loops.has(node.type))
      inserts.push(
        { at: body.start, text: `{${tick}`, isEnd: false },
        { at: body.end, text: "}", isEnd: true, from: body.start },
      );
    return true;
  });
  return inserts;
}

/** What ends at a place closes before what begins there, and the inner one before the outer. */
function withInserts(source: string, inserts: readonly Insert[]): string {
  const sorted = inserts
    .map((insert, order) => ({ ...insert, order }))
    .toSorted(
      (a, b) => a.at - b.at || Number(b.isEnd) - Number(a.isEnd) || (a.isEnd ? b.order - a.order : a.order - b.order),
    );
  let text = "";
  let from = 0;
  for (const insert of sorted) {
    text += source.slice(from, insert.at) + insert.text;
    from = insert.at;
  }
  return text + source.slice(from);
}

/** Maps that the module itself fills: what is in one was worked out under another mutant. */
function cachesOf(program: Node): string[] {
  return childrenOf(program).flatMap((statement) => {
    const declaration = statement.type === "ExportNamedDeclaration" ? child(statement, "declaration") : statement;
    if (declaration?.type !== "VariableDeclaration") return [];
    return childrenOf(declaration).flatMap((declarator) => {
      const [id, init] = [child(declarator, "id"), child(declarator, "init")];
      const isEmptyMap =
        init?.type === "NewExpression" &&
        child(init, "callee")?.["name"] === "Map" &&
        Array.isArray(init["arguments"]) &&
        init["arguments"].length === 0;
      return isEmptyMap && typeof id?.["name"] === "string" ? [id["name"]] : [];
    });
  });
}
