import { hourMs } from "../machine/units.ts";
import type { Costs } from "./costs.ts";

/** A line for each group, what is not listed together in the last one. */
export const costTable = ({ by, groups, others }: Costs) => ({
  head: [
    by,
    "attempts",
    "calls",
    "run_hours",
    "lambda_usd",
    "fargate_usd",
    "queues_usd",
    "logs_usd",
    "database_usd",
    "usd",
  ],
  rows: [
    ...groups.map((each) => ({ ...each, name: each.name === "" ? `(no ${by})` : each.name })),
    ...(others === null ? [] : [{ ...others, name: "(others)" }]),
  ].map(({ name, attempts, calls, runMs, usd: { lambda, fargate, queues, logs, database, total } }) => [
    name,
    String(attempts),
    String(Number(calls.toFixed(3))),
    (runMs / hourMs).toFixed(3),
    ...[lambda, fargate, queues, logs, database, total].map((each) => each.toFixed(6)),
  ]),
});
