import type { Context } from "../definitions/context.ts";
import type { InvocationScope } from "./invocation-scope.ts";

const scopes = new WeakMap<Context, InvocationScope>();

/** Lets the definitions that Belfry itself makes (graphs, fan-outs, sweeps) reach what a handler must not. */
export function openInside(context: Context, scope: InvocationScope): Context {
  scopes.set(context, scope);
  return context;
}

/** @throws TypeError for a context that no worker made. */
export function insideOf(context: Context): InvocationScope {
  const scope = scopes.get(context);
  if (scope === undefined) throw new TypeError("this context was not made by a worker: run the job through one");
  return scope;
}
