import { expect } from "vitest";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { problem } from "../../src/api/shape/shape.ts";

/** Holds answers to what is documented: a member that no schema names is as wrong as one that is missing. */
export function documented(endpoints: readonly Endpoint[]) {
  const seen = new Set<string>();
  const patterns = endpoints.map((each) => ({
    each,
    name: `${each.method} ${each.path}`,
    pattern: new RegExp(`^${each.path.replaceAll(/:\w+/g, "[^/]+")}$`),
  }));
  return {
    /** The endpoints that answered as asked so far. */
    seen,
    check(method: string, path: string, status: number, body: unknown): void {
      // What an app answers on its own routes is the app's.
      if (path.startsWith("/apps/")) return;
      if (status >= 400) {
        problem.parse(body);
        return;
      }
      const pathname = new URL(path, "http://x").pathname;
      // A literal path wins over one with a parameter, as in the router.
      const found = patterns.filter(({ each, pattern }) => each.method === method && pattern.test(pathname));
      const hit = found.find(({ each }) => each.path === pathname) ?? found[0];
      if (hit === undefined) return;
      const schema = hit.each.replies[status];
      if (schema === undefined) throw new Error(`${hit.name} answered ${status}, which is not documented`);
      expect(schema.parse(body), `${hit.name} ${status}`).toEqual(body);
      seen.add(hit.name);
    },
  };
}
