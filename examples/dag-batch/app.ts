import { defineApp, defineDataGraph, defineFanOut, defineGraph, defineJob, defineSchedule, sql } from "belfry";
import { z } from "zod";
import { bookings, openTicket } from "./books.ts";
import { dayBefore } from "./day.ts";
import { publish, runTask, statement } from "./services.ts";
import { routes } from "./routes.ts";
import { loadGraph, workflowInput } from "./workflow.ts";

const outside = { environment: ["DAG_SERVICES_URL"], retry: { maxAttempts: 3, base: "10s" } } as const;

/** One shop's day: our books against the bank's. A difference gets a ticket; `publish` runs anyway, also if `match` failed. */
const settlement = defineGraph({
  id: "settlement",
  version: 1,
  input: z.object({ shop: z.string(), day: z.iso.date() }),
  key: ({ shop, day }) => `${day}:${shop}`,
  tasks(task) {
    const orders = task("orders", { run: ({ input }) => bookings("order", input) });
    const refunds = task("refunds", { run: ({ input }) => bookings("refund", input) });
    const match = task("match", {
      after: { orders, refunds },
      ...outside,
      async run({ input, ...o }, ctx) {
        const { cents } = await statement(input, ctx.signal);
        return { diff: o.orders.cents - o.refunds.cents - cents };
      },
    });
    const review = task("review", {
      after: { match },
      when: (o) => o.match.diff !== 0,
      run: ({ input, match: { diff } }) => openTicket(input, diff),
    });
    task("publish", {
      after: { match, review },
      join: "allDone",
      ...outside,
      async run({ input, ...o }, ctx) {
        const result = { ...input, diff: o.match?.diff ?? null, ticket: o.review?.ticket ?? null };
        return await publish(result, { idempotencyKey: ctx.effectKey("publish"), signal: ctx.signal });
      },
    });
  },
});

const settleShops = defineFanOut({
  id: "settle-shops",
  from: () => sql<{ id: string }>`select id from dag_batch.shop`,
  key: (shop, s) => `${dayBefore(s.day)}:${shop.id}`,
  each: settlement,
  payload: (shop, s) => ({ shop: shop.id, day: dayBefore(s.day) }),
});

/** Graphs as data, from table `dag_batch.task` or a file in `graphs/`: each task runs on the cluster for its `seconds`. */
const workflow = defineDataGraph({
  id: "workflow",
  version: 1,
  lane: "cluster",
  timeout: "2m",
  ...outside,
  input: workflowInput,
  key: ({ graph, day, part }) => (part === undefined ? `${day}:${graph}` : `${day}:${graph}:${part}`),
  taskPayload: z.object({ version: z.number(), seconds: z.number() }),
  graph: ({ graph }) => loadGraph(graph),
  async run({ task, payload: { seconds }, input: { graph } }, ctx) {
    const order = { graph, task, seconds };
    return await runTask(order, { idempotencyKey: ctx.effectKey("task"), signal: ctx.signal });
  },
});

const nightlyWorkflows = defineFanOut({
  id: "nightly-workflows",
  from: () => sql<{ id: string }>`select id from dag_batch.workflow where enabled`,
  key: (row, s) => `${s.day}:${row.id}`,
  each: workflow,
  payload: (row, s) => ({ graph: row.id, day: s.day }),
});

/** One small graph every five minutes, to see something before 07:50 in Seoul. `part` is the time, in UTC. */
const islandsOften = defineJob({
  id: "islands-often",
  async run(_, ctx) {
    const [day = "", part = ""] = ctx.scheduledFor.toISOString().slice(0, 16).split("T");
    await ctx.enqueue(workflow, { graph: "islands", day, part });
  },
});

const daily = {
  timezone: "Asia/Seoul",
  overlap: "queue-one",
  enabled: { prod: true, systems: true, examples: true, demo: true },
} as const;
const often = { every: { examples: "5m" }, misfire: "skip", enabled: { examples: true } } as const;

export default defineApp({
  name: "dag-batch",
  schedules: [
    defineSchedule({ id: "settle-shops", cron: "50 7 * * *", run: settleShops, ...daily }),
    defineSchedule({ id: "nightly-workflows", cron: "51 7 * * *", run: nightlyWorkflows, ...daily }),
    defineSchedule({ id: "islands-often", run: islandsOften, ...often }),
  ],
  lanes: { cluster: { batchSize: 10, concurrency: { default: 5, examples: 2, demo: 2 } } },
  migrations: new URL("./migrations/", import.meta.url),
  routes: routes(workflow),
});
