import type { MiddlewareHandler } from "hono";
import { Problem } from "./problem.ts";

const localHosts = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Only requests that name this machine are answered: a web page whose name was pointed at 127.0.0.1 sends its own
 * name in `Host`. Browsers also send `Origin` with cross-site requests; a foreign one is refused.
 */
export const localOnly: MiddlewareHandler = async (c, next) => {
  const host = c.req.header("host") ?? "";
  if (!localHosts.has(withoutPort(host))) {
    throw new Problem(403, "foreign-host", "this API answers only requests to 127.0.0.1 or localhost", {
      issues: [{ path: "header host", message: "names another machine" }],
    });
  }
  const origin = c.req.header("origin");
  if (origin !== undefined && !isLocalOrigin(origin)) {
    throw new Problem(403, "foreign-origin", "this API answers no requests that another site's page makes", {
      issues: [{ path: "header origin", message: "is another site" }],
    });
  }
  await next();
};

/** A form of another site cannot send this content type without asking first. */
export const jsonWrites: MiddlewareHandler = async (c, next) => {
  if (c.req.method !== "GET" && c.req.method !== "HEAD") {
    const type = (c.req.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
    if (type !== "application/json") {
      throw new Problem(415, "not-json", "send writes with content-type: application/json", {
        issues: [{ path: "header content-type", message: "must be application/json" }],
      });
    }
  }
  await next();
};

const withoutPort = (host: string): string => host.toLowerCase().replace(/:\d{1,5}$/, "");

function isLocalOrigin(origin: string): boolean {
  return URL.canParse(origin) && localHosts.has(new URL(origin).hostname);
}
