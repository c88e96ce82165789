/** Where an instrumented module writes which statement it sends: `hits.setup.ts` makes a new set for each test file. */
declare global {
  var belfryHits: Set<string> | undefined;
}

const statementFile = "src/postgres/statement.ts";

/** `execute` names the statement that it sends. */
const executeStart = /(export async function execute<R>\([^{]*\{ name,[^}]*\}[^{]*\{\n)/;

/** The source that says, while tests run, which statement is sent; null for every other file. */
export function instrumented(file: string, source: string): string | null {
  if (file !== statementFile) return null;
  if (!executeStart.test(source)) throw new Error(`${statementFile}: execute is not where it is instrumented`);
  return source.replace(executeStart, "$1  globalThis.belfryHits?.add(`sql:${name}`);\n");
}
