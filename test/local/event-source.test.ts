import { onTestFinished, describe, expect, it, vi } from "vitest";
import { type SourceQueue, type SourceRecord, startEventSource } from "../../src/local/lambda/event-source.ts";
import { SandboxPool } from "../../src/local/lambda/sandbox-pool.ts";
import type { Sandbox } from "../../src/local/lambda/sandbox.ts";
import { until } from "./until.ts";

const record = (messageId: string): SourceRecord => ({
  messageId,
  receiptHandle: `handle-${messageId}`,
  body: messageId,
  attributes: {},
  messageAttributes: {},
  md5OfBody: "",
  eventSource: "aws:sqs",
  eventSourceARN: "arn",
  awsRegion: "us-east-1",
});

/** Gives what was put in, as soon as it is there; nothing is given twice. */
function scriptedQueue() {
  const waiting: SourceRecord[] = [];
  const deleted: string[] = [];
  const asked: number[] = [];
  let arrived = Promise.withResolvers<void>();
  const queue: SourceQueue = {
    async receive(max, { signal }) {
      asked.push(max);
      const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      if (waiting.length === 0) await Promise.race([arrived.promise, aborted]);
      return waiting.splice(0, Math.min(max, 10));
    },
    delete: async (records) => void deleted.push(...records.map(({ messageId }) => messageId)),
  };
  const put = (...ids: string[]): void => {
    waiting.push(...ids.map(record));
    arrived.resolve();
    arrived = Promise.withResolvers();
  };
  return { queue, put, deleted, asked, waiting };
}

type Invoke = (event: { Records: SourceRecord[] }) => Promise<unknown>;

function fakeSandbox(invoke: Invoke): Sandbox & { stopped: boolean; acks: number } {
  const ended = Promise.withResolvers<string>();
  const sandbox = {
    pid: 1,
    ready: Promise.resolve(),
    ended: ended.promise,
    invoke: (event: unknown) => invoke(event as { Records: SourceRecord[] }),
    acks: 0,
    acknowledged: () => void (sandbox.acks += 1),
    stopped: false,
    async stop() {
      sandbox.stopped = true;
      ended.resolve("it was stopped");
    },
    kill: () => ended.resolve("it was killed"),
    get hasEnded() {
      return sandbox.stopped;
    },
  };
  return sandbox;
}

function begin(
  invoke: Invoke,
  options: { max?: number; batchSize?: number; isLazy?: boolean; create?: () => Sandbox } = {},
) {
  const scripted = scriptedQueue();
  const sandboxes: ReturnType<typeof fakeSandbox>[] = [];
  const problems: string[] = [];
  const create = (): Sandbox => {
    const sandbox = fakeSandbox(invoke);
    sandboxes.push(sandbox);
    return sandbox;
  };
  const pool = new SandboxPool({
    create: options.create ?? create,
    max: options.max ?? 1,
    onBroken: (error) => problems.push(error.message),
  });
  const source = startEventSource({
    queue: scripted.queue,
    pool,
    batchSize: options.batchSize ?? 10,
    windowMs: 0,
    isLazy: options.isLazy ?? false,
    onProblem: (what) => problems.push(what),
  });
  onTestFinished(async () => {
    await source.stop();
    await pool.stop(0);
  });
  return { ...scripted, sandboxes, problems, pool, source };
}

describe("the event source", () => {
  it("deletes what succeeded and leaves what failed", async () => {
    const { put, deleted, sandboxes } = begin(async () => ({ batchItemFailures: [{ itemIdentifier: "b" }] }));
    put("a", "b", "c");
    await until("the deletion", () => deleted.length > 0);
    expect(deleted).toEqual(["a", "c"]);
    await until("the acknowledgement", () => sandboxes[0]?.acks === 1);
  });

  it("deletes nothing when the function throws, and says so", async () => {
    const invoke = vi.fn<Invoke>().mockRejectedValueOnce(new Error("boom")).mockResolvedValue(null);
    const { put, deleted, problems } = begin(invoke);
    put("a", "b");
    await until("the problem", () => problems.length > 0);
    expect(problems).toEqual(["an invocation with 2 messages failed"]);
    put("c");
    await until("the next batch", () => deleted.length > 0);
    expect(deleted).toEqual(["c"]);
  });

  it("ends a sandbox that ran nothing for two minutes, the last one too", async () => {
    const pool = new SandboxPool({ create: () => fakeSandbox(async () => null), max: 2, onBroken: () => {} });
    const { signal } = new AbortController();
    const [first, second] = [await pool.acquire(signal), await pool.acquire(signal)];
    if (first === null || second === null) throw new Error("none was acquired");
    const passed = vi.spyOn(performance, "now");
    onTestFinished(() => passed.mockRestore());
    const start = performance.now();
    const afterMs = async (ms: number): Promise<readonly boolean[]> => {
      passed.mockReturnValue(start + ms);
      await pool.room(signal);
      return [first.hasEnded, second.hasEnded];
    };
    pool.release(second);
    passed.mockReturnValue(start + 80_000);
    pool.release(first);
    expect(await afterMs(119_000)).toEqual([false, false]);
    expect(await afterMs(121_000)).toEqual([false, true]);
    expect(await afterMs(201_000)).toEqual([true, true]);
  });

  it.each([
    { pauseMs: 0, started: 2 },
    { pauseMs: 120, started: 1 },
  ])("has $started for batches of 100 ms with $pauseMs ms between them", async ({ pauseMs, started }) => {
    const sandboxes: Sandbox[] = [];
    const create = (): Sandbox => sandboxes[sandboxes.push(fakeSandbox(async () => null)) - 1] as Sandbox;
    const pool = new SandboxPool({ create, max: 2, onBroken: () => {} });
    const { signal } = new AbortController();
    let nowMs = performance.now();
    const passed = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
    onTestFinished(() => passed.mockRestore());
    let busy = await pool.acquire(signal);
    for (let batch = 0; batch < 5 && busy !== null; batch += 1) {
      nowMs += pauseMs;
      const next = pool.acquire(signal);
      nowMs += 100;
      pool.release(busy);
      busy = await next;
    }
    expect(sandboxes).toHaveLength(started);
  });

  it("takes the sandbox that is idle again, not one that still starts", async () => {
    const begun = Promise.withResolvers<void>();
    const sandboxes: Sandbox[] = [];
    const create = (): Sandbox => {
      const sandbox = fakeSandbox(() => begun.promise);
      sandboxes.push(sandboxes.length === 0 ? sandbox : Object.assign(sandbox, { ready: new Promise(() => {}) }));
      return sandbox;
    };
    const { put, deleted } = begin(async () => null, { max: 2, batchSize: 1, create });
    put("a", "b");
    await until("the second to start", () => sandboxes.length === 2);
    begun.resolve();
    await until("both to be deleted", () => deleted.length === 2);
    expect(deleted).toEqual(["a", "b"]);
  });

  it("starts another sandbox only for a message, never more than its concurrency, and receives nothing it could not run", async () => {
    let running = 0;
    let most = 0;
    const release = Promise.withResolvers<void>();
    const { put, deleted, sandboxes, waiting, asked } = begin(
      async () => {
        most = Math.max(most, ++running);
        await release.promise;
        running -= 1;
        return null;
      },
      { max: 2, batchSize: 1 },
    );
    put("a");
    await until("the next receive", () => asked.length === 2);
    expect(sandboxes.length).toBe(1);
    put("b", "c", "d");
    await until("two invocations", () => running === 2);
    expect(waiting.length).toBe(2);
    release.resolve();
    await until("all four", () => deleted.length === 4);
    expect(most).toBe(2);
    expect(sandboxes.length).toBe(2);
  });

  it("runs a message that arrives after a save in a new sandbox", async () => {
    const { put, deleted, sandboxes, pool, asked } = begin(async () => null);
    await until("the long poll", () => asked.length > 0);
    pool.refresh();
    put("a");
    await until("the deletion", () => deleted.length === 1);
    expect(sandboxes.map(({ acks }) => acks)).toEqual([0, 1]);
    expect(sandboxes[0]?.stopped).toBe(true);
  });

  it("starts no sandbox for an empty queue when it is lazy", async () => {
    const { put, asked, deleted, sandboxes } = begin(async () => null, { isLazy: true });
    await until("a receive", () => asked.length > 0);
    expect(sandboxes.length).toBe(0);
    put("a");
    await until("the deletion", () => deleted.length === 1);
  });

  it("receives nothing while the code cannot be imported, and goes on when it was repaired", async () => {
    let isBroken = true;
    const create = (): Sandbox => {
      const sandbox = fakeSandbox(async () => null);
      return isBroken ? { ...sandbox, ready: Promise.reject(new Error("syntax")) } : sandbox;
    };
    const { put, problems, asked, deleted, pool } = begin(async () => null, { create });
    put("a");
    await until("the problem", () => problems.length > 0);
    expect([problems, asked]).toEqual([["syntax"], []]);
    isBroken = false;
    pool.refresh();
    await until("the deletion", () => deleted.length === 1);
  });

  it("says nothing of a sandbox that a stop ends before it is ready", async () => {
    const ready = Promise.withResolvers<void>();
    const stop = async (): Promise<void> => ready.reject(new Error("its process was killed by SIGTERM"));
    const create = (): Sandbox => ({ ...fakeSandbox(async () => null), ready: ready.promise, stop });
    const { source, pool, problems } = begin(async () => null, { create });
    await Promise.all([source.stop(), pool.stop(0)]);
    await expect(ready.promise).rejects.toThrow("SIGTERM");
    expect(problems).toEqual([]);
  });

  it("answers the batch under way before it stops", async () => {
    const { promise, resolve } = Promise.withResolvers<null>();
    const { put, deleted, source, waiting } = begin(() => promise);
    put("a");
    await until("the invocation", () => waiting.length === 0);
    const stopped = source.stop();
    resolve(null);
    await stopped;
    expect(deleted).toEqual(["a"]);
  });
});
