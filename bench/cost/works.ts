import { randomUUID } from "node:crypto";
import { z } from "zod";
import { defineApp } from "../../src/define/define-app.ts";
import { defineFanOut } from "../../src/define/define-fan-out.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { definitionOf, defineJob } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import { sql } from "../../src/define/query.ts";
import { installDefinitions } from "../../src/schedule/install-schedules.ts";
import { tick } from "../../src/schedule/tick.ts";
import { pagesOf } from "../ports.ts";
import { loadKeyed } from "../rows.ts";
import type { World } from "./world.ts";

/** A kind of work, from its first call to the last outcome. */
export interface Work {
  readonly name: string;
  /** Jobs that share an invocation, a claim and a settle. */
  readonly batch: number;
  /** Rows and definitions that are there before. */
  prepare?(world: World, jobs: number): Promise<void>;
  run(world: World, jobs: number): Promise<void>;
}

const job = defineJob({
  id: "mail",
  payload: z.object({ to: z.string(), n: z.number() }),
  run: () => ({ sent: true }),
});
const sealed = defineJob({
  id: "pay",
  seal: "payroll",
  payload: z.object({ to: z.string(), n: z.number() }),
  run: () => ({ sent: true }),
});
const target = defineJob({ id: "push", payload: z.object({ to: z.number() }), run: () => {} });
const daily = defineFanOut<{ readonly id: number }, { to: number }>({
  id: "daily",
  from: () => sql<{ readonly id: number }>`select id from subscriber`,
  each: target,
  key: (row, at) => `${at.scheduledFor.getTime()}:${row.id}`,
  payload: (row) => ({ to: row.id }),
});
const tasksOfAGraph = 10;
/** Two begin, six wait for both, one joins them, one publishes: 10 tasks and 19 edges. */
const graph = defineGraph({
  id: "settlement",
  version: 1,
  tasks(task) {
    const a = task("orders", { run: () => ({ cents: 100 }) });
    const b = task("bank", { run: () => ({ cents: 100 }) });
    const each = (n: number) => task(`shop-${n}`, { after: { a, b }, run: () => ({ ok: true }) });
    const [c, d, e, f, g, h] = [each(1), each(2), each(3), each(4), each(5), each(6)];
    const all = task("all", { after: { c, d, e, f, g, h }, run: () => ({ ok: true }) });
    task("publish", { after: { all }, run: () => ({ ok: true }) });
  },
});
const schedulesMax = 100;
const schedules = Array.from({ length: schedulesMax }, (_, n) =>
  defineSchedule({
    id: `each-minute-${n}`,
    cron: "* * * * *",
    timezone: "UTC",
    run: job,
    payload: { to: "a@example.org", n },
  }),
);

export const app = defineApp({ name: "cost", jobs: [job, sealed, target, daily, graph], schedules });

const payloads = (jobs: number) =>
  Array.from({ length: jobs }, (_, n) => ({ payload: { to: `user-${n}@example.org`, n } }));

/** 500,000 for 1,000 jobs: their index of keys has 2,000 pages, most of which are touched once then. */
const keptRowsAJob = 500;

export const works: readonly Work[] = [
  {
    name: "job, one at a time",
    batch: 1,
    async run({ client, drain }, jobs) {
      for (const item of payloads(jobs)) {
        await client.enqueue(definitionOf(job), [item]);
        await drain(1);
      }
    },
  },
  ...[job, sealed].map((each) => ({
    name: each === job ? "job, ten a batch" : "sealed job, ten a batch",
    batch: 10,
    async run({ client, drain }: World, jobs: number) {
      for (const page of pagesOf(payloads(jobs), 10)) await client.enqueue(definitionOf(each), page);
      await drain(10);
    },
  })),
  {
    name: "keyed job behind a checkpoint, ten a batch",
    batch: 10,
    prepare: ({ database }, jobs) => loadKeyed(database.pool, jobs * keptRowsAJob),
    async run({ client, database, drain }, jobs) {
      await database.pool.query("checkpoint");
      const keyed = payloads(jobs).map((item) => ({ ...item, key: randomUUID() }));
      for (const page of pagesOf(keyed, 10)) await client.enqueue(definitionOf(job), page);
      await drain(10);
    },
  },
  {
    name: "job, 1,000 an enqueue, 500 a batch",
    batch: 500,
    async run({ client, drain }, jobs) {
      await client.enqueue(definitionOf(job), payloads(jobs));
      await drain(500);
    },
  },
  {
    name: "fan-out target, ten a batch",
    batch: 10,
    async prepare({ database }, jobs) {
      await database.pool.query(
        `create table subscriber as select n as id from generate_series(1, ${jobs}) n; create unique index on subscriber (id)`,
      );
    },
    async run({ client, drain }) {
      await client.enqueue(definitionOf(daily), [{ payload: undefined, key: "today" }]);
      await drain(10);
    },
  },
  {
    name: "graph task, ten a batch",
    batch: 10,
    async run({ client, drain }, jobs) {
      const runs = Array.from({ length: Math.ceil(jobs / tasksOfAGraph) }, (_, n) => ({
        payload: undefined,
        key: `run-${n}`,
      }));
      await client.enqueue(definitionOf(graph), runs);
      await drain(10);
    },
  },
  {
    name: "schedule's fire, ten a batch",
    batch: 10,
    async prepare({ portsAhead, known }) {
      const ports = portsAhead(0);
      await installDefinitions(ports, known, { stage: "bench" });
      for (let left = 1; left > 0;) left = (await tick(ports, known)).schedules;
    },
    async run({ portsAhead, known, drain, dueNow }, jobs) {
      const minutes = Math.ceil(jobs / schedulesMax);
      for (let minute = 1; minute <= minutes; minute += 1) await tick(portsAhead(minute * 60_000), known);
      await dueNow();
      await drain(10);
    },
  },
];
