import { expect, test } from "vitest";
import { contractLimits } from "../../../src/machine/contract-limits.ts";
import { runLimits } from "../../../src/machine/run-limits.ts";
import type { TestStore } from "../../support/looks.ts";
import { minute, contract, type At } from "./fixture.ts";
import { aTask, failed, type Workbench, workbench } from "./run-fixture.ts";

const dayMs = 86_400_000;
const approved = aTask("approved", [0], { wait: { ms: 3 * dayMs, forSignal: true } });
const tasks = [aTask("ask"), approved, aTask("ship", [1])];

const near = (at: number, wanted: number): void => expect(Math.abs(at - wanted)).toBeLessThan(minute);

async function dueAt(store: TestStore, { runId }: Workbench, place: number): Promise<number> {
  const job = (await store.tasks(runId))[place]?.jobId;
  return (job === undefined ? null : await store.job(job))?.dueAt ?? 0;
}

/** The bench takes what a signal dispatched, as a worker would receive it. */
const send = async (store: TestStore, bench: Workbench, payload: object) => {
  const sent = await store.signal(bench.runId, "approved", { payload: { ...payload }, caller: "ada" });
  if (sent.is === "taken") bench.take(sent.aftermath.outbox);
  return sent;
};

export const signalsContract = contract({
  signals: ({ store, advance }: At) => {
    test("a wait is due at its timeout, and at once when its signal comes, with the payload", async () => {
      const bench = await workbench(store, { tasks });
      await bench.end("ask");
      expect(await bench.states()).toEqual({ ask: "SUCCESS", approved: "PENDING", ship: "PENDING" });
      const { jobId } = (await store.tasks(bench.runId))[1] ?? {};
      near(await dueAt(store, bench, 1), (await store.now()) + 3 * dayMs);
      expect(await send(store, bench, { by: "ada" })).toMatchObject({ is: "taken", jobId });
      const claimed = await bench.claim("approved");
      expect(claimed?.run).toMatchObject({ payload: { by: "ada" }, isSignaled: true });
    });

    test("an early signal is kept, and the release makes its task due at once, also that of a wide join", async () => {
      for (const width of [1, runLimits.wideJoinOver + 1]) {
        const before = Array.from({ length: width }, (_, n) => aTask(`ask-${n}`));
        const join = { ...approved, after: before.map((_, n) => n) };
        const bench = await workbench(store, { key: String(width), tasks: [...before, join] });
        expect(await send(store, bench, { width })).toMatchObject({ is: "taken", aftermath: { outbox: [] } });
        for (const { task } of before) await bench.end(task);
        expect((await bench.claim("approved"))?.run).toMatchObject({ payload: { width }, isSignaled: true });
      }
    });

    test("the first signal counts: the same one again is repeated, another one a conflict that names the first", async () => {
      const bench = await workbench(store, { tasks });
      const now = await store.now();
      await send(store, bench, { a: 1, b: 2 });
      expect(await send(store, bench, { b: 2, a: 1 })).toMatchObject({ is: "repeated", by: "ada" });
      const other = await send(store, bench, { a: 2 });
      expect(other).toMatchObject({ is: "conflict", by: "ada" });
      near("at" in other ? other.at : 0, now);
      await bench.end("ask");
      await bench.end("approved");
      expect(await send(store, bench, { a: 1, b: 2 })).toMatchObject({ is: "repeated" });
    });

    test("what waits for no signal takes none, nor does a wait that runs, has ended or is of a run that is canceled", async () => {
      const bench = await workbench(store, { tasks });
      for (const name of ["ask", "nobody"])
        expect(await store.signal(bench.runId, name, { payload: null })).toEqual({ is: "unknown" });
      await bench.end("ask", failed);
      expect(await send(store, bench, {})).toMatchObject({ is: "late", state: "SKIPPED", runState: "FAILED" });
      const other = await workbench(store, { key: "other", tasks });
      await store.cancelRun(other.runId);
      expect(await send(store, other, {})).toMatchObject({ is: "late", state: "PENDING", runState: "CANCELING" });
      const over = await workbench(store, { key: "over", tasks });
      await over.end("ask");
      const [, wait] = await store.tasks(over.runId);
      over.take((await store.runNow(wait === undefined ? [] : [wait.jobId])).aftermath.outbox);
      await over.claim("approved");
      expect(await send(store, over, {})).toMatchObject({ is: "late", state: "RUNNING", runState: "RUNNING" });
    });

    test("a wait without predecessors waits from the start of its run, and one for a time until then", async () => {
      const job = { ...aTask("night").job, dueAt: (await store.now()) + contractLimits.delayMsMax };
      const bench = await workbench(store, {
        tasks: [aTask("approved", [], { wait: { ms: dayMs, forSignal: true } }), aTask("night", [], { job })],
      });
      expect(await bench.states()).toEqual({ approved: "PENDING", night: "PENDING" });
      near(await dueAt(store, bench, 0), (await store.now()) + dayMs);
      near(await dueAt(store, bench, 1), job.dueAt);
      expect(await send(store, bench, {})).toMatchObject({ is: "taken", aftermath: { outbox: [{ messages: [{}] }] } });
      near(await dueAt(store, bench, 0), await store.now());
    });

    test("a wait whose time was over waits again after a resume", async () => {
      const bench = await workbench(store, { tasks });
      await bench.end("ask");
      const { jobId } = (await store.tasks(bench.runId))[1] ?? {};
      await advance(3 * dayMs);
      const { aftermath } = await store.runNow(jobId === undefined ? [] : [jobId]);
      bench.take(aftermath.outbox);
      await bench.end("approved", failed);
      await store.resumeRun(bench.runId, {});
      near(await dueAt(store, bench, 1), (await store.now()) + 3 * dayMs);
      expect(await send(store, bench, {})).toMatchObject({ is: "taken" });
      await bench.end("approved");
      expect(await bench.states()).toMatchObject({ approved: "SUCCESS", ship: "QUEUED" });
    });
  },
});
