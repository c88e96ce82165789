import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { SettledJob } from "../../src/core/define/context.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { callHook, movedHook, wantsHook } from "../../src/core/delivery/settled-hook.ts";
import type { JobId } from "../../src/core/job/job.ts";
import { states } from "../../src/core/job/state.ts";
import type { Moved, StoreTx } from "../../src/core/ports/ports.ts";
import { type LogLine, type Metric, recordingLog, recordingMetrics } from "../../src/testing/recording.ts";
import { registryFor } from "./world.ts";

const row: Moved = {
  jobId: "7" as JobId,
  kind: "hooked",
  payload: { n: 4 },
  state: "FAILED",
  attempt: 3,
  errorCode: null,
  errorMessage: null,
};

/** A transaction that only counts its savepoints. */
function transaction(brokenBy: Error | null = null) {
  const nested: string[] = [];
  const tx: StoreTx = {
    brokenBy,
    query: async () => ({ rows: [], rowCount: 0 }),
    nested: async (work) => {
      nested.push("begin");
      return await work();
    },
  };
  return { tx, nested };
}

/** Three kinds: one with a hook, one without, and one whose hook throws; and what the first was called with. */
function hooks() {
  const seen: { payload: unknown; settled: SettledJob }[] = [];
  const hooked = defineJob({
    id: "hooked",
    payload: z.object({ n: z.number(), shown: z.boolean().default(true) }),
    run: () => {},
    onSettled: async (payload, settled) => void seen.push({ payload, settled }),
  });
  const plain = defineJob({ id: "plain", run: () => {} });
  const broken = defineJob({
    id: "broken",
    run: () => {},
    onSettled: async () => {
      throw new Error("no table");
    },
  });
  return { seen, known: registryFor(hooked, plain, broken) };
}

test.each([
  [[], false],
  [["plain"], false],
  [["none"], false],
  [["hooked"], true],
  [["plain", "hooked"], true],
  [["hooked", "plain"], true],
  [["none", "plain"], false],
])("of the kinds %j one has a hook: %s", (kinds, wants) => {
  expect(wantsHook(hooks().known, kinds)).toBe(wants);
});

describe("the hook of a job is called", () => {
  test("with failed for a lost attempt that was the last, and else with what happened", async () => {
    const { seen, known } = hooks();
    const ends: Record<string, boolean> = { SUCCESS: true, FAILED: true, CANCELED: true, SKIPPED: true };
    for (const outcome of ["lost", "canceled", "failed", "success"] as const)
      for (const state of states) {
        await callHook(known, { ...row, state }, outcome, transaction().tx);
        const said = outcome === "lost" && state === "FAILED" ? "failed" : outcome;
        const settled = { jobId: "7", outcome: said, attempt: 3, final: ends[state] === true };
        expect(seen.pop()).toStrictEqual({ payload: { n: 4, shown: true }, settled });
      }
  });

  test.each([
    ["E1", "why", { code: "E1", message: "why" }],
    ["E1", null, { code: "E1", message: "" }],
  ])("with its error %s: %s", async (errorCode, errorMessage, error) => {
    const { seen, known } = hooks();
    await callHook(known, { ...row, errorCode, errorMessage }, "failed", transaction().tx);
    expect(seen[0]?.settled.error).toStrictEqual(error);
  });

  test("with the payload as it is stored when the schema of today refuses it", async () => {
    const { seen, known } = hooks();
    await callHook(known, { ...row, payload: { n: "four" } }, "failed", transaction().tx);
    expect(seen[0]?.payload).toStrictEqual({ n: "four" });
  });

  test("and not for a kind that has none or is not defined", async () => {
    const { seen, known } = hooks();
    const broken = transaction(new Error("aborted")).tx;
    for (const kind of ["plain", "none"]) await callHook(known, { ...row, kind }, "failed", broken);
    expect(seen).toEqual([]);
    await expect(callHook(known, row, "failed", broken)).rejects.toThrow('onSettled of "hooked": a statement failed');
  });
});

test("of rows that were moved each with a hook has its savepoint, and a hook that throws is counted and stops no other", async () => {
  const { seen, known } = hooks();
  const lines: LogLine[] = [];
  const values: Metric[] = [];
  const { tx, nested } = transaction();
  const ports = { log: recordingLog(lines), metrics: recordingMetrics(values) };
  const rows = ["plain", "broken", "none", "hooked"].map((kind) => ({ ...row, kind }));
  await movedHook(ports, known, "lost")(tx, rows);
  expect(nested).toHaveLength(2);
  expect(seen.map(({ settled }) => settled.outcome)).toEqual(["failed"]);
  expect(values).toEqual([{ name: "job.on_settled.failed", value: 1, dimensions: { job: "broken" } }]);
  expect(lines.map(({ fields }) => fields["kind"])).toEqual(["broken"]);
});
