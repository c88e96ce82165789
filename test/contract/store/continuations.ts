import { expect, test } from "vitest";
import type { Continuation, NewRun } from "../../../src/machine/run.ts";
import { only, contract, type At } from "./fixture.ts";
import { aTask, failed, workbench } from "./run-fixture.ts";

const closing: Continuation = {
  job: "close-day",
  kind: "bill.then",
  on: "success",
  lane: "closing",
  leaseMs: 20_000,
  maxAttempts: 12,
  retentionMs: 1_000_000_000,
};

export const continuationsContract = contract({
  "what follows a run": ({ store }: At) => {
    const bench = async (over: Partial<NewRun> = {}) => {
      const made = await workbench(store, { tasks: [aTask("a"), aTask("b")], continuation: closing, ...over });
      return { ...made, follows: async () => await store.jobs({ kind: closing.kind }) };
    };

    test("is one job that waits, written by the end of the run, with its figures as the payload", async () => {
      const { runId, end, follows } = await bench();
      await end("a");
      expect(await follows()).toEqual([]);
      expect(await store.run(runId)).toMatchObject({
        then: { kind: "close-day", on: "success", by: null, job: null },
      });
      await end("b");
      const job = only(await follows());
      const run = await store.run(runId);
      const ended = { runId, outcome: "DONE", total: 2, succeeded: 2, failed: 0, canceled: 0, skipped: 0 };
      expect(job).toMatchObject({
        key: `then:${runId}`,
        state: "PENDING",
        lane: "closing",
        maxAttempts: 12,
        trace: "trace-1",
        payload: { ...ended, startedAt: run?.createdAt, endedAt: run?.finishedAt, input: run?.input },
      });
      expect(run?.then).toMatchObject({ by: job.id, job: null });
      expect((await store.relay({ lane: "closing", limit: 10 })).flatMap(({ messages }) => messages)).toHaveLength(1);
    });

    test("on success is of a run that is DONE alone, be it after a resume, and never twice", async () => {
      const { runId, end, resolve, take, follows } = await bench({ tolerate: 0 });
      await end("a", failed);
      await end("b");
      expect(await store.run(runId)).toMatchObject({ state: "FAILED" });
      expect(await follows()).toEqual([]);
      await store.resumeRun(runId, {});
      take(await store.relay({ limit: 10 }));
      await end("a");
      const first = only(await follows());
      expect(first).toMatchObject({ payload: { outcome: "DONE", succeeded: 2 } });
      await resolve();
      expect(await follows()).toHaveLength(1);
    });

    test.each([
      { on: "end", lose: async (b: Awaited<ReturnType<typeof bench>>) => await b.end("a", failed), outcome: "FAILED" },
      { on: "success", lose: async (b: Awaited<ReturnType<typeof bench>>) => await b.end("a", failed), outcome: null },
      {
        on: "failure",
        lose: async (b: Awaited<ReturnType<typeof bench>>) => await b.end("a", failed),
        outcome: "FAILED",
      },
    ] as const)("on $on of a run that FAILED is $outcome, and its resume has no second", async (of) => {
      const made = await bench({ continuation: { ...closing, on: of.on } });
      await of.lose(made);
      await made.end("b");
      expect((await made.follows()).map(({ payload }) => payload)).toMatchObject(
        of.outcome === null ? [] : [{ outcome: of.outcome, failed: 1, succeeded: 1 }],
      );
      await store.resumeRun(made.runId, {});
      made.take(await store.relay({ lane: "default", limit: 10 }));
      await made.end("a");
      expect(await store.run(made.runId)).toMatchObject({ state: "DONE" });
      expect(await made.follows()).toHaveLength(1);
    });

    test.each(["success", "failure", "end"] as const)("on %s of a run that is canceled", async (on) => {
      const { runId, resolve, follows } = await bench({ continuation: { ...closing, on } });
      await store.cancelRun(runId);
      while (!(await store.cancelPage(runId, { limit: 10 })).isEmpty);
      await resolve();
      expect(await store.run(runId)).toMatchObject({ state: "CANCELED" });
      const payloads = (await follows()).map(({ payload }) => payload);
      expect(payloads).toMatchObject(on === "end" ? [{ outcome: "CANCELED", canceled: 2 }] : []);
    });

    test("a run that tolerates a dead letter is followed once, though a redrive ends it again", async () => {
      const { runId, end, take, follows } = await bench({ tolerate: 0.5 });
      await end("a", failed);
      await end("b");
      expect(only(await follows())).toMatchObject({ payload: { outcome: "DONE", failed: 1 } });
      await store.resumeRun(runId, {});
      take(await store.relay({ lane: "default", limit: 10 }));
      await end("a");
      expect(await store.run(runId)).toMatchObject({ state: "DONE", ok: 2 });
      expect(await follows()).toHaveLength(1);
    });
  },
});
