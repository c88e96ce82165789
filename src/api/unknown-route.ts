import { closest } from "./closest.ts";
import type { Endpoint } from "./endpoint.ts";
import { HttpProblem } from "./problem.ts";

/** For a path that exists the answer names its methods; for any other, resources with a similar name. */
export function unknownRoute(
  endpoints: readonly Pick<Endpoint, "method" | "path">[],
  { method, path }: { readonly method: string; readonly path: string },
): HttpProblem {
  const here = endpoints.filter((each) => patternOf(each.path).test(path)).map((each) => each.method);
  if (here.length > 0) {
    const allow = [...new Set([...here, ...(here.includes("GET") ? ["HEAD"] : []), "OPTIONS"])].join(", ");
    return new HttpProblem("method-not-allowed", `${path} has no ${method}: it has ${allow}`, { headers: { allow } });
  }
  const resources = [...new Set(endpoints.map((each) => `/${each.path.split("/")[1] ?? ""}`))];
  const near = closest(
    path.split("/")[1] ?? "",
    resources.map((each) => each.slice(1)),
  );
  const hint = near.length > 0 ? `did you mean /${near.join(" or /")}? ` : "";
  const detail = `there is no ${path.slice(0, 200)}: ${hint}the resources are ${resources.join(", ")}; /openapi.json describes them, docs/api.md shows each`;
  return new HttpProblem("no-such-route", detail);
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`);
