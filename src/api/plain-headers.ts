import type { MiddlewareHandler } from "hono";
import { invalidField } from "./problem.ts";

/** The newest version of the API: the day of its last change that could break a client. */
export const apiDate = "2026-11-22";

/** What an answer must not be taken for, or be kept as. The console's files say their own. */
export const plainHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  const { headers } = c.res;
  headers.set("belfry-version", apiDate);
  if (!headers.has("x-content-type-options")) headers.set("x-content-type-options", "nosniff");
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  // An app may answer with a page of its own.
  if (headers.has("content-security-policy") || c.req.path.startsWith("/apps/")) return;
  headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  headers.set("referrer-policy", "no-referrer");
};

/** A client may say which version it was written for; one that this server does not speak is refused. */
export const apiVersion: MiddlewareHandler = async (c, next) => {
  const asked = c.req.header("belfry-version");
  if (asked !== undefined && asked !== apiDate) {
    throw invalidField("header belfry-version", `must be ${apiDate}, the version this server speaks, or be left out`);
  }
  await next();
};
