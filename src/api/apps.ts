import type { Hono } from "hono";
import { cancelJobs } from "../core/control.ts";
import type { Inside } from "../core/definitions/routes.ts";
import type { ApiOptions } from "./options.ts";

/** The routes of each app that has some, below `/apps/NAME`. They share the API's guards and its answer to an error. */
export function mountApps(api: Hono, options: ApiOptions): void {
  for (const { name, routes } of options.registry.apps) {
    if (routes === null) continue;
    const inside = insideOf(options, name);
    api.mount(`/apps/${name}`, (request) => routes.fetch(request, inside));
  }
}

function insideOf({ ports, registry, stage = "dev" }: ApiOptions, app: string): Inside {
  return {
    stage,
    log: ports.log.child({ app }),
    async find({ id: kind }, key) {
      const [job] = await ports.store.jobs({ kind, key, limit: 1 });
      return job ?? null;
    },
    look: (id) => ports.store.job(id),
    async cancel(id) {
      const canceled = await cancelJobs(ports, registry, [id]);
      return canceled.includes(id);
    },
  };
}
