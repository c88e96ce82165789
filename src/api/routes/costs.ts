import { z } from "zod";
import { costFacts, costGrouping, costList, costPeriod, dayPattern, costsOf } from "../../insight/costs.ts";
import { endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem } from "../problem.ts";
import { nameText } from "../query-fields.ts";

const day = (description: string) =>
  z.iso
    .date("must be a day in UTC: 2026-11-01")
    .optional()
    .meta({ description, as: { type: "string", pattern: dayPattern } });

const usdMax = 999_999_999;
const isAmount = `must be an amount in USD up to ${usdMax}: 106.40`;

const costsQuery = z.strictObject({
  from: day("The first day, in UTC; default: the first of the month."),
  to: day("The first day that is not in it; default: tomorrow."),
  by: costGrouping.default("kind").meta({ description: "What is added up." }),
  kind: nameText().optional(),
  databaseUsd: z
    .string()
    .regex(/^\d+(\.\d+)?(e[+-]?\d+)?$/i, isAmount)
    .transform(Number)
    .pipe(z.number().max(usdMax, isAmount))
    .optional()
    .meta({
      description: "What the database costs a month; default: what the deployment says, which knows its own instance.",
      as: { type: "number", minimum: 0, maximum: usdMax },
    }),
});

export function costsEndpoint({ insight, ports, stage = "dev", lanes, registry, databaseUsd = null }: ApiOptions) {
  const facts = costFacts({ stage, lanes, jobs: registry.jobs.values(), databaseUsd });
  return endpoint("GET /costs", {
    name: "getCosts",
    summary: "What jobs cost by kind, schedule or key, estimated by list prices",
    description:
      "By what was measured of each attempt and by list prices: calls and time of functions, tasks on Fargate, queues, logs and a share of the database. The answer says what it assumes and what it leaves out. Kept for 400 days by the day.",
    example: { query: { by: "kind" } },
    scope: "list",
    query: costsQuery,
    replies: { 200: costList },
    refuses: ["invalid-time"],
    async reply({ query: { from, to, by, kind, databaseUsd: given }, within }) {
      const now = await ports.store.now();
      try {
        const asked = {
          ...costPeriod({ from, to }, now),
          by,
          kinds: kind === undefined ? (within.search.kinds ?? null) : [kind],
        };
        // Its share would say how much others run.
        const priced = { ...facts, databaseUsd: within.isWhole ? (given ?? databaseUsd) : null };
        return await costsOf(insight, { asked, facts: priced, now });
      } catch (error) {
        if (error instanceof RangeError) throw new HttpProblem("invalid-time", error.message);
        throw error;
      }
    },
  });
}
