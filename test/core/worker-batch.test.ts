import { describe, expect, test } from "vitest";
import { encodeMessage } from "../../src/core/delivery/message.ts";
import type { JobId } from "../../src/core/job/job.ts";
import { contractLimits } from "../../src/core/job/contract-limits.ts";
import { type JobPeek, type Message, noAftermath, type Store } from "../../src/core/ports/ports.ts";
import type { LaneGate } from "../../src/core/work/lane-gate.ts";
import { workerLimits } from "../../src/core/work/worker-limits.ts";
import { waitingRow } from "./claim-rig.ts";
import { aClaimed } from "./rows.ts";
import { gate } from "./world.ts";
import { down, plenty, takes, workerRig, type Answers } from "./worker-rig.ts";

describe("a paused lane", () => {
  const held: Message[] = [];
  const paused: LaneGate = {
    isPaused: async () => true,
    hold: async (messages) => {
      held.push(...messages);
      return messages.map(({ jobId }) => jobId);
    },
  };

  test("holds the jobs of its messages, claims none, and gives back only what was not read", async () => {
    held.length = 0;
    const { handle, claims, ports } = await workerRig({ gate: paused, store: { quarantine: down } });
    expect(await handle(["1", "bad", "2"])).toEqual(["mbad"]);
    expect([held.map(({ jobId }) => jobId), claims]).toEqual([["1", "2"], []]);
    expect(ports.clock.pending()).toBe(0);
  });

  test("that cannot hold gives all back, after a pause as for a store that is away, one message too", async () => {
    const { handle, claims } = await workerRig({ gate: { ...paused, hold: down }, store: { quarantine: down } });
    const passMs = workerLimits.giveBackPauseMs;
    expect(await handle(["1", "bad"], { passMs })).toEqual(["mbad", "m1"]);
    expect(claims).toEqual([]);
  });

  test("of which nothing is known gives its one message back after that pause", async () => {
    const { ports, worker, claims } = await workerRig({ gate: { ...paused, isPaused: down } });
    const body = encodeMessage({ jobId: "1" as JobId, generation: 1, trace: "t" });
    const batch = worker.handle([{ messageId: "m1", body }], { remainingMs: plenty });
    expect(await takes(ports, batch)).toBe(workerLimits.giveBackPauseMs);
    expect([await batch, claims]).toEqual([{ failed: ["m1"] }, []]);
  });

  test("is one that its gate says is paused; the jobs of another lane run", async () => {
    held.length = 0;
    const { handle, ran } = await workerRig({ gate: { ...paused, isPaused: async () => false } });
    expect(await handle(["1"])).toEqual([]);
    expect([ran, held]).toEqual([["1"], []]);
  });
});

describe("the lease of a claimed job is renewed", () => {
  const thirdMs = aClaimed("1").leaseMs / contractLimits.heartbeatsPerLease;

  /** A batch that waits inside this statement for two thirds of a lease: which jobs were renewed until then. */
  async function renewedDuring(store: (wait: () => Promise<void>) => Partial<Store>) {
    const renewed: string[] = [];
    const open = gate();
    const heartbeat: Store["heartbeat"] = async (held) => {
      renewed.push(...held.map(({ jobId }) => jobId));
      return held;
    };
    const { handle, ports } = await workerRig({ store: { ...store(() => open.promise), heartbeat } });
    const handled = handle(["1"]);
    await ports.clock.advance(2 * thirdMs);
    const before = [...renewed];
    open.open();
    expect(await handled).toEqual([]);
    return before;
  }

  test("while what its claim left is done, before its handler begins", async () => {
    const claimed = [aClaimed("1", { kind: "job" })];
    const renewed = await renewedDuring((wait) => ({
      claim: async () => ({ claimed, aftermath: { ...noAftermath, freed: ["cap:x"] } }),
      wake: async () => (await wait(), []),
    }));
    expect(renewed).toEqual(["1", "1"]);
  });

  test("while its outcome is written, after its handler has ended", async () => {
    const renewed = await renewedDuring((wait) => ({
      settle: async (written) => {
        await wait();
        return { settled: written.map(({ jobId }) => jobId), conflicts: 0, aftermath: noAftermath };
      },
    }));
    expect(renewed).toEqual(["1", "1"]);
  });
});

describe("a pause before messages are given back", () => {
  test.each([
    [600_000, 1_000],
    [4_000, 1_000],
    [3_999, 999],
    [3_500, 500],
    [3_000, 0],
    [1_000, 0],
  ])("with %s ms left of the worker's time takes %s ms", async (leftMs, pauseMs) => {
    const { ports, worker } = await workerRig({ store: { claim: down } });
    const body = encodeMessage({ jobId: "1" as JobId, generation: 1, trace: "t" });
    const batch = worker.handle([{ messageId: "m1", body }], { remainingMs: () => leftMs });
    expect(await takes(ports, batch)).toBe(pauseMs);
  });
});

describe("a batch", () => {
  test.each([
    [["1"], true],
    [["1", "2"], false],
    [["1", "bad"], true],
  ])("of %j is claimed alone: %s", async (ids, alone) => {
    const { handle, claims } = await workerRig();
    await handle(ids);
    expect(claims.map((claim) => claim.alone)).toEqual([alone]);
  });

  test("that can be read calls no quarantine and logs no error", async () => {
    const { handle, calls, ports } = await workerRig();
    await handle(["1", "2"]);
    expect(calls).toEqual([]);
    expect(ports.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("runs a job alone that became due while it was waited for", async () => {
    const { handle, claims, ran, sent } = await workerRig({
      claim: ({ ids }, call) => (call < 3 ? [] : ids),
      peek: (ids, call) => ids.map((id) => waitingRow(id, call === 1 ? { dueInMs: 50 } : { alone: true })),
    });
    expect(await handle(["1", "2"], { passMs: 100 })).toEqual([]);
    expect(claims).toEqual([
      { ids: ["1", "2"], alone: false },
      { ids: ["1", "2"], alone: false },
      { ids: ["1"], alone: true },
    ]);
    expect([ran, sent]).toEqual([["1"], [{ id: "2", delayMs: 0 }]]);
  });

  test("runs one job alone, and has sent the messages of the others again before it starts", async () => {
    let sentThen: unknown;
    const { handle, ran, sent } = await workerRig({
      claim: ({ ids }, call) => (call === 1 ? [] : ids),
      peek: (ids) => ids.map((id) => waitingRow(id, { alone: true })),
      run: () => void (sentThen = [...sent]),
    });
    expect(await handle(["1", "2", "3"])).toEqual([]);
    expect([ran, sentThen]).toEqual([["1"], ["2", "3"].map((id) => ({ id, delayMs: 0 }))]);
  });

  test("keeps one job to run alone in all, when another is a moment early", async () => {
    const { handle, ran, sent } = await workerRig({
      claim: ({ ids }, call) => (call < 3 ? [] : ids),
      peek: (ids, call) =>
        ids.map((id) => waitingRow(id, id === "2" && call === 1 ? { dueInMs: 50 } : { alone: true })),
    });
    expect(await handle(["1", "2"], { passMs: 100 })).toEqual([]);
    expect([ran, sent]).toEqual([["1"], [{ id: "2", delayMs: 0 }]]);
  });

  test("gives back the messages of jobs to run alone that the queue did not take", async () => {
    const { handle, ran } = await workerRig({
      claim: ({ ids }, call) => (call === 1 ? [] : ids),
      peek: (ids) => ids.map((id) => waitingRow(id, { alone: true })),
      refuses: true,
    });
    expect(await handle(["1", "2", "3"])).toEqual(["m2", "m3"]);
    expect(ran).toEqual(["1"]);
  });

  test("waits alone, too, for a job that runs alone and is a moment early", async () => {
    const { handle, claims, ran } = await workerRig({
      claim: ({ ids }, call) => (call < 3 ? [] : ids),
      peek: (ids, call) => ids.map((id) => waitingRow(id, call === 1 ? { alone: true } : { dueInMs: 50, alone: true })),
    });
    await handle(["1", "2"], { passMs: 100 });
    expect(claims.map(({ alone }) => alone)).toEqual([false, true, true]);
    expect(ran).toEqual(["1"]);
  });

  test.each<[string, Answers]>([
    ["at once", {}],
    [
      "after a moment",
      {
        claim: ({ ids }, call) => (call === 1 ? [] : ids),
        peek: (ids) => ids.map((id) => waitingRow(id, { dueInMs: 50 })),
      },
    ],
    [
      "alone",
      {
        claim: ({ ids }, call) => (call === 1 ? ids.slice(0, 1) : ids),
        peek: (ids) => ids.map((id) => waitingRow(id, { alone: true })),
      },
    ],
    [
      "alone, after a moment",
      {
        claim: ({ ids }, call) => (call === 1 ? ids.slice(0, 1) : call === 2 ? [] : ids),
        peek: (ids, call) => ids.map((id) => waitingRow(id, call === 1 ? { alone: true } : { dueInMs: 50 })),
      },
    ],
  ])("gives back the message of a job that ran %s and whose outcome may not be written", async (_, answers) => {
    const { handle, lost, ran } = await workerRig(answers);
    lost.add("2");
    expect(await handle(["1", "2"], { passMs: 5_000 })).toEqual(["m2"]);
    expect(ran.toSorted()).toEqual(["1", "2"]);
  });

  test.each<[string, (ids: readonly string[], call: number) => readonly JobPeek[]]>([
    ["for a moment", (ids) => ids.map((id) => waitingRow(id, { dueInMs: 50 }))],
    ["to run alone", (ids) => ids.map((id, n) => waitingRow(id, n === 0 ? { alone: true } : { dueInMs: 50 }))],
  ])("gives back messages that waited %s when their own claim fails", async (_, peek) => {
    const { handle, ran } = await workerRig({
      claim: (__, call) => {
        if (call > 1) throw new Error("down");
        return [];
      },
      peek,
    });
    expect((await handle(["1", "2"], { passMs: 1_000 })).toSorted()).toEqual(["m1", "m2"]);
    expect(ran).toEqual([]);
  });

  test("gives back the job to run alone that waits when the worker stops, without a claim", async () => {
    let stop = (): void => {};
    const { handle, claims, worker, ran, sent } = await workerRig({
      claim: ({ ids }) => ids.slice(0, 1),
      peek: (ids) => ids.map((id) => waitingRow(id, { alone: true })),
      run: () => stop(),
    });
    stop = () => void worker.stop(1_000);
    expect(await handle(["1", "2", "3"], { passMs: 2_000 })).toEqual(["m2"]);
    expect([ran, claims.length, sent]).toEqual([["1"], 1, [{ id: "3", delayMs: 0 }]]);
  });
});

describe("a handler that meets a process without file descriptors", () => {
  const noFiles = new Error("fetch failed", { cause: Object.assign(new Error("connect EMFILE"), { code: "EMFILE" }) });

  test.each([
    [["1"], noFiles, { 1: ["RETRY_WAIT", 1] }, true],
    [["1", "2"], noFiles, { 2: ["SUCCESS", 0] }, true],
    [["1", "2"], new Error("something else"), { 1: ["RETRY_WAIT", 1], 2: ["SUCCESS", 0] }, false],
  ])(
    "is charged if it ran alone, else its lease ends with the process: %j, %s",
    async (ids, error, outcomes, isSpent) => {
      const settled = new Map<string, unknown>();
      const { worker, ports } = await workerRig({
        run: (id) => {
          if (id === "1") throw error;
        },
        store: {
          async settle(settlements) {
            for (const { jobId, to, failures } of settlements) settled.set(jobId, [to, failures]);
            return { settled: settlements.map(({ jobId }) => jobId), conflicts: 0, aftermath: noAftermath };
          },
        },
      });
      const records = ids.map((id) => ({
        messageId: `m${id}`,
        body: encodeMessage({ jobId: id as JobId, generation: 1, trace: "t" }),
      }));
      expect(await worker.handle(records, { remainingMs: plenty })).toEqual({ failed: [] });
      expect(worker.isSpent).toBe(isSpent);
      expect(Object.fromEntries(settled)).toEqual(outcomes);
      expect(ports.clock.pending()).toBe(0);
    },
  );
});
