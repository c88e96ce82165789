import type { Times } from "./marks.ts";

/** The class of `pg` whose connections are clocked. */
export interface ClientClass {
  readonly prototype: { query(...args: unknown[]): unknown };
}

/** How the statements of a system begin, or what only they contain. */
export interface Statements {
  readonly claim: RegExp;
  readonly settle: RegExp;
}

/** From now on notes how long each claim and settle takes. A claim that finds nothing is a look, and does not count. */
export function clockQueries({ prototype }: ClientClass, statements: Statements, times: Times): void {
  const { query } = prototype;
  prototype.query = function clocked(this: unknown, ...args: unknown[]): unknown {
    const text = textOf(args[0]);
    const of = statements.claim.test(text) ? "claim" : statements.settle.test(text) ? "settle" : null;
    if (of === null) return query.apply(this, args);
    const startedMs = performance.now();
    const note = (answer: unknown): void => {
      if (rowsOf(answer) > 0) times[of].push(performance.now() - startedMs);
    };
    const last = args.at(-1);
    if (typeof last === "function") {
      const noted = (error: unknown, answer: unknown): void => {
        note(answer);
        last(error, answer);
      };
      return query.apply(this, [...args.slice(0, -1), noted]);
    }
    return Promise.resolve(query.apply(this, args)).then((answer) => {
      note(answer);
      return answer;
    });
  };
}

function textOf(query: unknown): string {
  if (typeof query === "string") return query;
  return typeof query === "object" && query !== null && "text" in query ? String(query.text) : "";
}

function rowsOf(answer: unknown): number {
  return typeof answer === "object" && answer !== null && "rowCount" in answer ? Number(answer.rowCount) : 0;
}
