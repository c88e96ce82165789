import { defineApp, defineGraph } from "belfry";
import { z } from "zod";
import { eachRows } from "../points.ts";
import { tell, tries } from "./target.ts";

/** Bills each row, and closes with the list of those that were billed. */
const month = defineGraph({
  id: "month",
  version: 1,
  input: z.object({ n: z.number() }),
  key: ({ n }) => String(n),
  tasks(task) {
    const list = task("list", { ...tries, run: () => Array.from({ length: eachRows }, (_, row) => row) });
    const bill = task.each("bill", {
      ...tries,
      after: { list },
      from: (given) => given.list,
      async run(row, ctx) {
        await tell("effect", ctx, `bill ${row}`);
        return row;
      },
      async fold(outputs) {
        const billed: number[] = [];
        for await (const row of outputs) billed.push(row);
        return billed;
      },
    });
    task("close", {
      ...tries,
      after: { bill },
      async run({ bill: rows }, ctx) {
        await tell("effect", ctx, "close");
        return rows;
      },
    });
  },
});

export default [defineApp({ name: "proof", jobs: [month] })];
