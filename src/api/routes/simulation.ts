import { endpoint } from "../endpoint.ts";
import { typicalRunMs } from "../expected-load.ts";
import type { ApiOptions } from "../options.ts";
import { simulation } from "../shape/simulation.ts";
import { simulationOf, simulationQuery } from "../simulation.ts";

export const simulationEndpoint = ({ insight, ports, lanes }: ApiOptions) =>
  endpoint("GET /simulation", {
    name: "simulateSchedules",
    summary: "What all schedules will start in the next days, and where it piles up",
    description:
      "By the code that plans them, as if nothing were missed, paused or capped. A fan-out counts as the job that writes its targets.",
    example: { query: { days: "7", against: "default=20" } },
    refuses: ["not-simulated"],
    scope: "list",
    query: simulationQuery,
    replies: { 200: simulation },
    async reply({ query, within }) {
      const [rows, now] = await Promise.all([ports.store.schedules(), ports.store.now()]);
      const runMs = await typicalRunMs({ insight }, now, query.percentile);
      const specs = rows.map(({ spec }) => spec).filter(({ job }) => within.hasKind(job.kind));
      return simulationOf({ specs, lanes, runMs, now }, query);
    },
  });
