import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, PermanentError } from "../../src/core/index.ts";
import { cancelRun } from "../../src/core/work/cancel-run.ts";
import type { SettledJob } from "../../src/core/define/context.ts";
import { runToEnd, startedRun, stateOf } from "./drive.ts";

type Told = readonly [task: string, input: unknown, outcome: SettledJob["outcome"], final: boolean];

/** Loads, which fails once; then books in its own transaction, and audits, which always fails. */
function logged(told: Told[]) {
  let tries = 0;
  const log = (task: string) => async (input: unknown, settled: SettledJob) =>
    void told.push([task, input, settled.outcome, settled.final]);
  return defineGraph({
    id: "logged",
    version: 1,
    input: z.object({ day: z.string(), size: z.number().default(7) }),
    tasks(task) {
      const load = task("load", {
        retry: { maxAttempts: 2, base: "10s" },
        run: () => {
          if ((tries += 1) === 1) throw new Error("not yet");
        },
        onSettled: log("load"),
      });
      task("book", { after: { load }, run: (_, ctx) => ctx.tx(async () => null), onSettled: log("book") });
      const audit = task("audit", {
        after: { load },
        run: () => {
          throw new PermanentError("never");
        },
        onSettled: log("audit"),
      });
      task("report", { after: { audit }, run: () => null, onSettled: log("report") });
    },
  });
}

test("a task's onSettled is told each end of a try with the run's input, and nothing of a task that is skipped", async () => {
  const told: Told[] = [];
  const run = await startedRun(logged(told), { day: "2031-05-06" });
  expect(await runToEnd(run)).toBe("FAILED");
  expect(await stateOf(run)).toEqual({ load: "SUCCESS", book: "SUCCESS", audit: "FAILED", report: "SKIPPED" });
  const input = { day: "2031-05-06", size: 7 };
  expect(told.slice(0, 2)).toEqual([
    ["load", input, "retry", false],
    ["load", input, "success", true],
  ]);
  expect(told.slice(2).toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual([
    ["audit", input, "failed", true],
    ["book", input, "success", true],
  ]);
});

test("a cancel of the run tells the onSettled of every task that was open", async () => {
  const told: Told[] = [];
  const run = await startedRun(logged(told), { day: "2031-05-06" });
  const { world, registry } = run.shop;
  await cancelRun(world, registry, run.id);
  const input = { day: "2031-05-06", size: 7 };
  expect(told).toEqual(["load", "book", "audit", "report"].map((task) => [task, input, "canceled", true]));
});
