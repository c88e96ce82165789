/** What every request and every answer passes: the headers of both. */
import type { Context, MiddlewareHandler } from "hono";
import type { Random } from "../machine/ports.ts";
import { HttpProblem, invalidField } from "./problem.ts";

/** The newest version of the API: the day of its last change that could break a client. */
export const apiDate = "2026-11-22";

const ids = new WeakMap<Request, string>();
export const requestIdOf = (request: Request): string => ids.get(request) ?? "";

/**
 * Names the request in its answer, its audit row and its log lines: a client cannot choose it, so it forges no log line. Says
 * what the answer must not be taken for, or be kept as; the console's files say their own.
 */
export const plainHeaders =
  (random: Random): MiddlewareHandler =>
  async (c, next) => {
    const id = random.id();
    ids.set(c.req.raw, id);
    await next();
    // The headers of an answer that an app hands on from another server cannot be set.
    if (c.req.path.startsWith("/apps/")) c.res = new Response(c.res.body, c.res);
    const { headers } = c.res;
    headers.set("x-request-id", id);
    headers.set("belfry-version", apiDate);
    if (!headers.has("x-content-type-options")) headers.set("x-content-type-options", "nosniff");
    if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
    // An app may answer with a page of its own.
    if (headers.has("content-security-policy") || c.req.path.startsWith("/apps/")) return;
    headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
    headers.set("referrer-policy", "no-referrer");
  };

/** Refuses what comes from elsewhere, and a version that this server does not speak: a client may say which it was written for. */
export const refuseForeign =
  ({ isLocal }: { readonly isLocal: boolean }): MiddlewareHandler =>
  async (c, next) => {
    if (isLocal) refuseHost(c);
    refuseOrigin(c);
    const asked = c.req.header("belfry-version");
    if (asked !== undefined && asked !== apiDate)
      throw invalidField("header belfry-version", `must be ${apiDate}, the version this server speaks, or be left out`);
    await next();
  };

const localHosts = new Set(["127.0.0.1", "localhost", "[::1]"]);

export const isLocalHost = (header = ""): boolean => localHosts.has(header.toLowerCase().replace(/:\d{1,5}$/, ""));

/** Only requests that name this machine are answered: a web page whose name was pointed at it sends its own in `Host`. */
function refuseHost({ req }: Context): void {
  // A request line may name a whole URL, which HTTP puts above the header.
  if (isLocalHost(req.header("host")) && isLocalHost(new URL(req.url).host)) return;
  throw new HttpProblem("foreign-host", "this API answers only requests to 127.0.0.1 or localhost", {
    issues: [{ path: "header host", message: "names another machine" }],
  });
}

/**
 * Requests that a page of another origin makes are refused; another port of this machine is another origin. Browsers send
 * `Origin` with every write and with requests across origins, and `Sec-Fetch-Site` with all. A link from elsewhere may open
 * a page.
 */
function refuseOrigin({ req }: Context): void {
  const origin = req.header("origin");
  const isForeign = origin !== undefined && !isOf(origin, req.header("host") ?? "");
  if (isForeign) throw foreign("header origin");
  const site = req.header("sec-fetch-site") ?? "none";
  const opensPage = req.method === "GET" && req.header("sec-fetch-mode") === "navigate";
  if (site !== "same-origin" && site !== "none" && !opensPage) throw foreign("header sec-fetch-site");
}

const foreign = (path: string): HttpProblem =>
  new HttpProblem("foreign-origin", "this API answers no requests that a page of another origin makes", {
    issues: [{ path, message: "is of another origin" }],
  });

/** An origin that is no URL (`null`, of a sandboxed page) is of no host. */
function isOf(origin: string, host: string): boolean {
  const from = URL.parse(origin)?.host;
  return from !== undefined && from === URL.parse(`http://${host}`)?.host;
}
