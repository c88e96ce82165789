import type { MiddlewareHandler } from "hono";
import type { Random } from "../core/ports/ports.ts";

const ids = new WeakMap<Request, string>();

/** Names the request in its answer, its audit row and its log lines. A client cannot choose it, so it forges no log line. */
export const numbered =
  (random: Random): MiddlewareHandler =>
  async (c, next) => {
    const id = random.id();
    ids.set(c.req.raw, id);
    await next();
    c.res.headers.set("x-request-id", id);
  };

export const requestIdOf = (request: Request): string => ids.get(request) ?? "";
