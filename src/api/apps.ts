import type { Hono, MiddlewareHandler } from "hono";
import { cancelJobs } from "../core/admin/control.ts";
import { attemptsOf } from "../core/job/history.ts";
import type { RouteContext } from "../core/define/routes.ts";
import { allowed, type MountOptions } from "./endpoint.ts";
import { refuseType } from "./body.ts";
import type { ApiOptions } from "./options.ts";
import { requestIdOf } from "./request-id.ts";

/**
 * The routes of each app that has some, below `/apps/NAME`. They share the API's guards, its roles, its audit (without the
 * body, which is the app's) and its answer to an error.
 */
export function mountApps(api: Hono, options: ApiOptions, shared: MountOptions): void {
  for (const { name, routes } of options.registry.apps) {
    if (routes === null) continue;
    const inside = routeContextOf(options, name);
    api.use(`/apps/${name}/*`, watched(`/apps/${name}`, shared));
    api.mount(`/apps/${name}`, (request) => routes.fetch(request, inside));
  }
}

const looks = new Set(["GET", "HEAD"]);

function watched(path: string, { identify, audit }: MountOptions): MiddlewareHandler {
  return async (c, next) => {
    const { method } = c.req;
    const type = c.req.header("content-type");
    if (!looks.has(method) && type !== undefined) refuseType(type, c.req.header("content-encoding") ?? null);
    const caller = allowed(looks.has(method) ? "read" : "operate", identify(c.req.raw, c.env));
    await next();
    if (looks.has(method)) return;
    const action = `${method} ${path}`;
    const trace = requestIdOf(c.req.raw);
    await audit.note({ caller: caller.name, action, target: c.req.path, status: c.res.status, body: null, trace });
  };
}

function routeContextOf({ ports, registry, dispatchWindowMs, stage = "dev" }: ApiOptions, app: string): RouteContext {
  return {
    stage,
    log: ports.log.child({ app }),
    async find({ id: kind }, key) {
      const [job] = await ports.store.jobs({ kind, key, limit: 1 });
      return job ?? null;
    },
    async get(id) {
      const found = await ports.store.job(id);
      return found === null ? null : { job: found.job, attempts: attemptsOf(found.job, found.history) };
    },
    async cancel(id) {
      const canceled = await cancelJobs(ports, registry, [id], { dispatchWindowMs });
      return canceled.includes(id);
    },
  };
}
