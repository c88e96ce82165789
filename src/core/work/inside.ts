import type { Context } from "../define/context.ts";
import type { InvocationScope } from "./invocation-scope.ts";

/**
 * Lets the definitions that Belfry itself makes (graphs, fan-outs, sweeps) reach what a handler must not. A private field and
 * not a weak map beside it: the map's entries cost the collector more than all else of a small job.
 */
export class Inside {
  readonly #scope: InvocationScope;

  constructor(scope: InvocationScope) {
    this.#scope = scope;
  }

  static of(context: Context): InvocationScope | null {
    return #scope in context ? context.#scope : null;
  }
}

/** @throws TypeError for a context that no worker made. */
export function insideOf(context: Context): InvocationScope {
  const scope = Inside.of(context);
  if (scope === null) throw new TypeError("this context was not made by a worker of this copy of belfry: npm ls belfry");
  return scope;
}
