import { defineApp, defineGraph, PermanentError } from "belfry";
import { z } from "zod";
import { isNewest } from "../points.ts";
import { tell, tries } from "./target.ts";

const input = z.object({ n: z.number() });

/** Bills and closes, but this release cannot bill. */
const first = defineGraph({
  id: "day",
  version: 1,
  input,
  key: ({ n }) => String(n),
  tasks(task) {
    const list = task("list", { ...tries, run: (_, ctx) => tell("effect", ctx, "list") });
    const bill = task("bill", {
      ...tries,
      after: { list },
      run() {
        throw new PermanentError("it cannot bill", { code: "BROKEN" });
      },
    });
    task("close", { ...tries, after: { bill }, run: (_, ctx) => tell("effect", ctx, "close") });
    task("report", { ...tries, after: { bill }, run: (_, ctx) => tell("effect", ctx, "report") });
  },
});

/** The next one checks before it closes, and has no report. */
const second = defineGraph({
  id: "day",
  version: 2,
  input,
  key: ({ n }) => String(n),
  tasks(task) {
    const list = task("list", { ...tries, run: (_, ctx) => tell("effect", ctx, "list") });
    const check = task("check", { ...tries, after: { list }, run: (_, ctx) => tell("effect", ctx, "check") });
    const bill = task("bill", { ...tries, after: { list }, run: (_, ctx) => tell("effect", ctx, "bill") });
    task("close", { ...tries, after: { bill, check }, run: (_, ctx) => tell("effect", ctx, "close") });
  },
});

export default [defineApp({ name: "proof", jobs: [isNewest() ? second : first] })];
