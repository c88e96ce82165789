import type { Hono, MiddlewareHandler } from "hono";
import { cancelJobs } from "../insight/cancel-and-retry.ts";
import { attemptsOf } from "../machine/history.ts";
import { readMoves } from "../insight/job.ts";
import type { RouteContext } from "../define/routes.ts";
import { requireRole, type MountOptions } from "./endpoint.ts";
import { refuseType } from "./body.ts";
import type { Caller } from "./caller.ts";
import { boundsOf, outside } from "./scope.ts";
import type { ApiOptions } from "./options.ts";
import { shownTo } from "./shown.ts";
import { requestIdOf } from "./guard.ts";
import { HttpProblem } from "./problem.ts";

/**
 * The routes of each app that has some, below `/apps/NAME`. They share the API's guards, its roles, its audit (without the
 * body, which is the app's) and its answer to an error.
 */
export function mountApps(api: Hono, options: ApiOptions, shared: MountOptions): void {
  for (const { name, jobs, routes } of options.registry.apps) {
    if (routes === null) continue;
    const isOutside = ({ scope }: Caller): boolean => {
      const within = boundsOf(options.registry, scope);
      return jobs.some(({ id }) => !within.hasKind(id));
    };
    api.use(`/apps/${name}/*`, watched(`/apps/${name}`, isOutside, shared));
    const answer = (request: Request, env: unknown): Response | Promise<Response> =>
      routes.fetch(request, routeContextOf(options, name, requireRole("read", shared.identify(request, env)), shared));
    // Without the third argument Hono throws and catches an error for each request.
    api.mount(`/apps/${name}`, answer, (c) => c.env);
  }
}

const looks = new Set(["GET", "HEAD"]);

function watched(
  path: string,
  isOutside: (caller: Caller) => boolean,
  { identify, audit }: MountOptions,
): MiddlewareHandler {
  return async (c, next) => {
    const { method } = c.req;
    // Neither an app's table nor the audit could store it.
    if (c.req.url.includes("%00"))
      throw new HttpProblem("not-storable", "the address holds a NUL character: remove it");
    const type = c.req.header("content-type");
    if (!looks.has(method) && type !== undefined) refuseType(type, c.req.header("content-encoding") ?? null);
    const caller = requireRole(looks.has(method) ? "read" : "operate", identify(c.req.raw, c.env));
    if (isOutside(caller)) throw outside(`${path} is not among them`);
    await next();
    if (looks.has(method)) return;
    const action = `${method} ${path}`;
    const trace = requestIdOf(c.req.raw);
    await audit.note({ caller: caller.name, action, target: c.req.path, status: c.res.status, body: null, trace });
  };
}

/** With jobs as their caller may see them, and none outside of its scope; the history of those it cancels names the caller. */
function routeContextOf(
  { ports, insight, registry, stage = "dev" }: ApiOptions,
  app: string,
  caller: Caller,
  { marks }: MountOptions,
): RouteContext {
  const within = boundsOf(registry, caller.scope);
  const seen = async <T extends { readonly kind: string }>(job: T) => (await shownTo(caller, job, marks)) as T;
  return {
    stage,
    log: ports.log.child({ app }),
    async find({ id: kind }, key) {
      if (!within.hasKind(kind)) return null;
      const found = await ports.store.job({ kind, key });
      return found === null ? null : await seen(found);
    },
    async get(id) {
      const job = await ports.store.job(id);
      if (job === null || !within.hasKind(job.kind)) return null;
      const moves = (await insight.run(readMoves, { ids: [id] })).map(({ at, startedAt, ...move }) => ({
        ...move,
        at: Date.parse(at),
        startedAt: startedAt === null ? null : Date.parse(startedAt),
      }));
      const attempts = attemptsOf(job, moves);
      const { kind: _kind, ...shown } = await seen({ kind: job.kind, job, attempts });
      return shown;
    },
    async cancel(id) {
      const found = within.isWhole ? null : await ports.store.job(id);
      if (found !== null && !within.hasKind(found.kind)) return false;
      const canceled = await cancelJobs(ports, registry, [id], { caller: caller.name });
      return canceled.includes(id);
    },
  };
}
