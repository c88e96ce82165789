import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, PermanentError } from "../../src/compose/index.ts";
import { cancelRun } from "../../src/run/cancel-run.ts";
import type { SettledJob } from "../../src/define/context.ts";
import { sum } from "../core/world.ts";
import { runToEnd, startedRun, stateOf } from "./drive.ts";

type Call = readonly [task: string, input: unknown, outcome: SettledJob["outcome"], final: boolean];

/** Loads, which fails once; then books in its own transaction, and audits, which always fails. */
function logged(calls: Call[]) {
  let tries = 0;
  const log = (task: string) => async (input: unknown, settled: SettledJob) =>
    void calls.push([task, input, settled.outcome, settled.final]);
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

test("a task's onSettled gets each end of a try with the run's input, and nothing of a task that is skipped", async () => {
  const calls: Call[] = [];
  const run = await startedRun(logged(calls), { day: "2031-05-06" });
  expect(await runToEnd(run)).toBe("FAILED");
  expect(await stateOf(run)).toEqual({ load: "SUCCESS", book: "SUCCESS", audit: "FAILED", report: "SKIPPED" });
  const input = { day: "2031-05-06", size: 7 };
  expect(calls.slice(0, 2)).toEqual([
    ["load", input, "FAILED", false],
    ["load", input, "SUCCESS", true],
  ]);
  expect(calls.slice(2).toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual([
    ["audit", input, "FAILED", true],
    ["book", input, "SUCCESS", true],
  ]);
});

test("a cancel of the run calls the onSettled of every task that was open", async () => {
  const calls: Call[] = [];
  const run = await startedRun(logged(calls), { day: "2031-05-06" });
  const { world, registry } = run.shop;
  await cancelRun(world, registry, run.id);
  const input = { day: "2031-05-06", size: 7 };
  expect(calls).toEqual(["load", "book", "audit", "report"].map((task) => [task, input, "CANCELED", true]));
});

test("an onSettled that throws stops no cancel, and is counted", async () => {
  const graph = defineGraph({
    id: "broken",
    version: 1,
    tasks: (task) =>
      void task("only", {
        run: () => null,
        onSettled: () => Promise.reject(new Error("no table")),
      }),
  });
  const run = await startedRun(graph, undefined);
  const { world, registry } = run.shop;
  expect(await cancelRun(world, registry, run.id)).toBe(1);
  expect(await stateOf(run)).toEqual({ only: "CANCELED" });
  expect(sum(world.measured, "job.on_settled.failed")).toBe(1);
});
