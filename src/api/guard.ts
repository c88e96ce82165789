import type { MiddlewareHandler } from "hono";
import { HttpProblem } from "./problem.ts";

const localHosts = new Set(["127.0.0.1", "localhost", "[::1]"]);

export const isLocalHost = (header: string | undefined): boolean => localHosts.has(withoutPort(header ?? ""));

/** Only requests that name this machine are answered: a web page whose name was pointed at it sends its own in `Host`. */
export const localOnly: MiddlewareHandler = async (c, next) => {
  // A request line may name a whole URL, which HTTP puts above the header.
  if (!isLocalHost(c.req.header("host")) || !isLocalHost(new URL(c.req.url).host)) {
    throw new HttpProblem("foreign-host", "this API answers only requests to 127.0.0.1 or localhost", {
      issues: [{ path: "header host", message: "names another machine" }],
    });
  }
  await next();
};

/**
 * Requests that a page of another origin makes are refused; another port of this machine is another origin. Browsers send
 * `Origin` with every write and with requests across origins, and `Sec-Fetch-Site` with all. A link from elsewhere may open
 * a page.
 */
export const sameOriginOnly: MiddlewareHandler = async (c, next) => {
  const origin = c.req.header("origin");
  const isForeign = origin !== undefined && !isOf(origin, c.req.header("host") ?? "");
  if (isForeign) throw foreign("header origin");
  const site = c.req.header("sec-fetch-site") ?? "none";
  const opensPage = c.req.method === "GET" && c.req.header("sec-fetch-mode") === "navigate";
  if (site !== "same-origin" && site !== "none" && !opensPage) throw foreign("header sec-fetch-site");
  await next();
};

const foreign = (path: string): HttpProblem =>
  new HttpProblem("foreign-origin", "this API answers no requests that a page of another origin makes", {
    issues: [{ path, message: "is of another origin" }],
  });

const withoutPort = (host: string): string => host.toLowerCase().replace(/:\d{1,5}$/, "");

/** An origin that is no URL (`null`, of a sandboxed page) is of no host. */
function isOf(origin: string, host: string): boolean {
  const from = URL.parse(origin)?.host;
  return from !== undefined && from === URL.parse(`http://${host}`)?.host;
}
