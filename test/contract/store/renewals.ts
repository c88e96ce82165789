import { expect, test } from "vitest";
import type { NewTask } from "../../../src/machine/run.ts";
import { aJob, contract, type At } from "./fixture.ts";
import { aRun, aTask, failed, workbench } from "./run-fixture.ts";

/** load, then bill, then close; each by its name in the newer definitions. */
const first = [aTask("load"), aTask("bill", [0]), aTask("close", [1])];

interface Refused {
  readonly newer: readonly NewTask[];
  readonly differences: readonly string[];
}

export const renewalsContract = contract({
  "a resume by a newer definition": ({ store, advance }: At) => {
    const bench = async (tasks: readonly NewTask[] = first) => {
      const made = await workbench(store, { tasks });
      const renew = async (newer: readonly NewTask[]) => {
        const run = aRun({ tasks: newer, version: 4, shape: "s4", retentionMs: 60_000 });
        const resumed = await store.resumeRun(made.runId, { newer: run, caller: "ada" });
        made.take(resumed.aftermath.outbox);
        made.take(await store.relay({ limit: 10 }));
        return resumed;
      };
      return { ...made, renew };
    };

    test("keeps what succeeded, runs what failed, adds what is new and skips what is gone", async () => {
      const { runId, end, renew, states } = await bench();
      await end("load");
      await end("bill", failed);
      const job = aJob({ kind: "settlement.task", payload: { to: 2 }, maxAttempts: 9 });
      const newer = [aTask("audit"), aTask("load"), aTask("bill", [0, 1], { job }), aTask("report", [2])];
      expect((await renew(newer)).ids).toHaveLength(4);
      expect(await states()).toEqual({
        load: "SUCCESS",
        bill: "PENDING",
        close: "SKIPPED",
        audit: "QUEUED",
        report: "PENDING",
      });
      expect(await store.run(runId)).toMatchObject({ state: "RUNNING", version: 4, shape: "s4", total: 5 });
      const close = (await store.tasks(runId)).find(({ task }) => task === "close");
      const moves = close === undefined ? [] : await store.history(close.jobId);
      expect(moves.map(({ to, reason }) => `${to} ${reason}`)).toEqual([
        "SKIPPED upstream",
        "PENDING resumed",
        "SKIPPED removed",
      ]);
      expect(moves[1]?.caller).toBe("ada");
      await end("audit");
      const bill = (await store.tasks(runId)).find(({ task }) => task === "bill");
      expect(bill).toMatchObject({ maxAttempts: 9, predecessors: { open: 0, ok: 2, bad: 0 } });
      await end("bill");
      await end("report");
      expect(await store.run(runId)).toMatchObject({ state: "DONE", ok: 4, skipped: 1, failed: 0 });
      await advance(2 * 60_000);
      await store.prune({ limit: 10 });
      expect(await store.run(runId)).toBeNull();
    });

    test("changes what still waits in a run that is going, and brings a removed task back", async () => {
      const { runId, end, claim, renew, states } = await bench();
      const load = await claim("load");
      expect(load?.state).toBe("RUNNING");
      expect((await renew([aTask("load"), aTask("bill", [0])])).ids).toHaveLength(2);
      expect(await states()).toEqual({ load: "RUNNING", bill: "PENDING", close: "SKIPPED" });
      expect((await renew([aTask("load"), aTask("bill", [0]), aTask("close", [1])])).ids).toHaveLength(2);
      expect(await states()).toEqual({ load: "RUNNING", bill: "PENDING", close: "PENDING" });
      expect(await store.run(runId)).toMatchObject({ state: "RUNNING", total: 3, done: 0 });
      await store.cancelRun(runId);
      expect(await renew([aTask("load")])).toMatchObject({ ids: [] });
      expect(await end("bill").catch(() => "refused")).toBe("refused");
    });

    test("gives a task that never ran what it starts with today, and one that ran what it had", async () => {
      const { runId, end, renew } = await bench();
      await end("load");
      await end("bill", failed);
      const job = aJob({ kind: "settlement.task", payload: { to: 7 } });
      const wait = { ms: 3_600_000, forSignal: false };
      await renew([aTask("load"), aTask("bill", [0], { job }), aTask("close", [1], { job, wait })]);
      const tasks = await store.tasks(runId);
      const payloads = await Promise.all(tasks.map(async ({ jobId }) => (await store.job(jobId))?.payload));
      expect(payloads.slice(1)).toEqual([(await store.job(tasks[0]?.jobId ?? ("0" as never)))?.payload, { to: 7 }]);
      await end("bill");
      const close = await store.job(tasks[2]?.jobId ?? ("0" as never));
      expect(close?.dueAt).toBeGreaterThanOrEqual((await store.now()) + wait.ms - 1_000);
    });

    test.each<Refused>([
      {
        newer: [aTask("bill"), aTask("close", [0])],
        differences: ["removed: load, which is SUCCESS", "edges of bill: was load, is none"],
      },
      {
        newer: [aTask("seed"), aTask("load", [0]), aTask("bill", [1]), aTask("close", [2])],
        differences: ["edges of load: was none, is seed"],
      },
      {
        newer: [aTask("load"), aTask("bill", [0]), aTask("close", [0, 1]), aTask("audit", [1])],
        differences: ["edges from bill, which is RUNNING: was close, is audit, close"],
      },
    ])("is refused where what has run would not fit: $differences", async ({ newer, differences }) => {
      const { runId, end, claim, renew, states } = await bench();
      await end("load");
      await claim("bill");
      const [before, tasks] = [await store.run(runId), await states()];
      expect(await renew(newer)).toMatchObject({ ids: [], differences });
      expect(await store.run(runId)).toEqual(before);
      expect(await states()).toEqual(tasks);
    });
  },
});
