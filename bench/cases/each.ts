import { Readable } from "node:stream";
import { z } from "zod";
import { defineApp } from "../../src/define/define-app.ts";
import { defineFanOut } from "../../src/define/define-fan-out.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { definitionOf, defineJob } from "../../src/define/define-job.ts";
import type { JobDefinition } from "../../src/define/definition.ts";
import { createMeter } from "../cost/meter.ts";
import { openWorld } from "../cost/world.ts";
import type { Ground } from "../ground.ts";
import { compared, type Figure, inTurns } from "../measure.ts";

const rowsWhole = 50_000;
const perBatch = 10;
const input = z.object({ count: z.number() });
const numbers = (count: number): number[] => Array.from({ length: count }, (_, row) => row);

const month = defineGraph({
  id: "month",
  version: 1,
  input,
  tasks(task) {
    const begin = task("begin", { run: ({ input: { count } }) => count });
    const bill = task.each("bill", { after: { begin }, from: (given) => numbers(given.begin), run: (row) => row });
    task("close", { after: { bill }, run: (given) => given.bill.succeeded });
  },
});

const bill = defineJob({ id: "bill", payload: z.object({ row: z.number() }), run: ({ row }) => row });
const close = defineJob({ id: "close", payload: z.object({ succeeded: z.number() }), run: (end) => end.succeeded });
/** How many rows the round has: a fan-out takes no input. */
let byHand = 0;
const bills = defineFanOut<number, { row: number }, { succeeded: number }>({
  id: "bills",
  from: (): AsyncIterable<number> => Readable.from(numbers(byHand)),
  each: bill,
  key: String,
  payload: (row) => ({ row }),
  then: close,
  thenPayload: ({ succeeded }) => ({ succeeded }),
});
const begin = defineJob({
  id: "begin",
  payload: input,
  async run(_, ctx) {
    await ctx.enqueue(bills, undefined);
  },
});

/** A task of rows between two others, beside a job, a fan-out and its `then`: time and statements a row. */
export async function each(ground: Ground, { size }: { readonly size: number }): Promise<readonly Figure[]> {
  const count = Math.round(rowsWhole * size);
  byHand = count;
  const statements = { product: [] as number[], roof: [] as number[] };
  const app = defineApp({ name: "bench", jobs: [month, begin, bills, bill, close] });
  const run = async (side: keyof typeof statements, starts: JobDefinition): Promise<number> => {
    const database = await ground.database();
    const meter = createMeter(database);
    const { client, drain, close: end } = openWorld(app, database, meter);
    const startedMs = performance.now();
    await meter.during(async () => {
      await client.enqueue(starts, [{ payload: { count } }]);
      await drain(perBatch);
    });
    const perRowMs = (performance.now() - startedMs) / count;
    const { rows } = await database.pool.query(
      "select from belfry.job where kind in ('close', 'month.close') and result = to_jsonb($1::int)",
      [count],
    );
    if (rows.length !== 1) throw new Error(`the ${side} did not close ${count} rows`);
    statements[side].push(meter.used.statements / count);
    await end();
    await database.close();
    return perRowMs;
  };
  const pairs = await inTurns({
    product: () => run("product", definitionOf(month)),
    roof: () => run("roof", definitionOf(begin)),
  });
  const counted = statements.product.map((product, round) => ({ product, roof: statements.roof[round] ?? 0 }));
  return [
    compared(`each: a row of ${count}`, "ms", pairs, { ratioMax: 1.1 }),
    compared(`each: statements a row of ${count}`, "statements", counted, { ratioMax: 1.1 }),
  ];
}
