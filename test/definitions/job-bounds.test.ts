import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineJob, definitionOf } from "../../src/core/define/define-job.ts";
import {
  AmbiguousError,
  httpError,
  InvalidPayload,
  KeyConflict,
  PermanentError,
  RetryLater,
} from "../../src/core/define/errors.ts";
import { describe as line } from "../../src/core/define/problem.ts";
import { contractLimits } from "../../src/core/job/contract-limits.ts";
import { bindClient, boundClient } from "../../src/core/ports/client.ts";
import { taskOf } from "../../src/core/ports/ports.ts";

const definitionWith = (more: object) => definitionOf(defineJob({ id: "a", run: () => {}, ...more }));
const problemsOf = (more: object): readonly string[] => definitionWith(more).problems.map(line);

afterEach(() => bindClient(null));

describe("a job's limits", () => {
  test.each<[object]>([
    [{ timeout: "1ms" }],
    [{ timeout: "1ms", runOn: "fargate" }],
    [{ timeout: "7d", runOn: "fargate" }],
    [{ timeout: "870s" }],
    [{ lease: "1s" }],
    [{ lease: "12h" }],
    [{ retention: "7d" }],
    [{ retention: "3660d" }],
    [{ concurrency: 1 }],
    [{ concurrency: 10_000 }],
    [{ onAmbiguous: "retry" }],
    [{ onAmbiguous: "park" }],
    [{ runOn: "lambda" }],
    [{ lock: { name: "l" } }],
    [{ lock: { name: "l".repeat(128) } }],
    [{ retry: { maxAttempts: 1, base: "1ms", cap: "1ms" } }],
    [{ retry: { maxAttempts: 1_000, base: "1m", cap: "1m" } }],
    [{ retry: { maxAttempts: 2, base: "366d" } }],
  ])("may be %j", (more) => {
    expect(problemsOf(more)).toEqual([]);
  });

  test.each<[object, string]>([
    [{ timeout: "0ms" }, 'timeout "0ms" must be at least 1ms (on Lambda); use a longer one'],
    [{ timeout: "0ms", runOn: "fargate" }, 'timeout "0ms" must be at least 1ms; use a longer one'],
    [{ timeout: "8d", runOn: "fargate" }, 'timeout "8d" must be at most 7d; use a shorter one'],
    [{ lock: { name: "" } }, 'lock.name "" must be 1 to 128 characters; choose a shorter name'],
    [{ retry: { maxAttempts: 1, base: "0ms" } }, 'retry.base "0ms" must be at least 1ms; use a longer one'],
    [{ retry: { maxAttempts: 1, cap: "367d" } }, 'retry.cap "367d" must be at most 366d; use a shorter one'],
    [
      { retry: { maxAttempts: 1_001 } },
      "retry.maxAttempts 1001 must be a whole number from 1 to 1000; change it, or leave it out for the default",
    ],
  ])("may not be %j", (more, expected) => {
    expect(problemsOf(more)).toEqual([`job "a": ${expected}`]);
  });

  test("are waited by: base and cap, or one's own function up to the longest delay", () => {
    expect(definitionWith({}).retry).toEqual({
      maxAttempts: 4,
      backoff: "exponential",
      baseMs: 1_000,
      capMs: 3_600_000,
      jitter: false,
    });
    const given = { maxAttempts: 2, base: "2h", jitter: true, backoff: "fixed" };
    expect(definitionWith({ retry: given }).retry).toMatchObject({ capMs: 7_200_000, jitter: true, backoff: "fixed" });
    const own = definitionWith({ retry: { maxAttempts: 2, backoff: (failures: number) => `${failures + 1}m` } }).retry;
    expect(own).toMatchObject({ capMs: contractLimits.delayMsMax, backoff: expect.any(Function) as unknown });
  });

  test("name what its handler reads, and nothing where it reads nothing", () => {
    const reads = { environment: ["URL"], secrets: ["token"] };
    expect(definitionWith(reads)).toMatchObject(reads);
    expect(definitionWith({}).environment).toBeUndefined();
    expect(definitionWith({}).secrets).toBeUndefined();
  });

  test("keep its schema, or null without one", () => {
    const payload = z.object({ id: z.string() });
    expect(definitionWith({ payload }).schema).toBe(payload);
    expect(definitionWith({}).schema).toBeNull();
  });
});

describe("the size of a task", () => {
  const on = (cpu: unknown, memoryMb: number): readonly string[] =>
    problemsOf({ runOn: "fargate", size: { cpu, memoryMb } });

  test.each([
    [256, 512, 2_048],
    [512, 1_024, 4_096],
    [1_024, 2_048, 8_192],
    [2_048, 4_096, 16_384],
    [4_096, 8_192, 30_720],
    [8_192, 16_384, 61_440],
    [16_384, 32_768, 122_880],
  ])("with a cpu of %i goes from %i to %i", (cpu, min, max) => {
    expect([on(cpu, min), on(cpu, max)]).toEqual([[], []]);
    expect([on(cpu, min / 2), on(cpu, max * 2), on(cpu, min + 1)].map(({ length }) => length)).toEqual([1, 1, 1]);
  });

  test.each(["toString", "constructor", 0, 32_768])("has no cpu of %j", (cpu) => {
    const sizes = "256, 512, 1024, 2048, 4096, 8192, 16384";
    expect(on(cpu, 512)).toEqual([
      `job "a": size.cpu ${JSON.stringify(cpu)} is not a size of Fargate; use one of ${sizes}`,
    ]);
  });
});

describe("enqueue", () => {
  const job = () => defineJob({ id: "a", run: () => {} });

  test("refuses a client that does not answer for the job", async () => {
    bindClient({ enqueue: async () => [] });
    await expect(job().enqueue()).rejects.toThrow('enqueue of "a" got no answer for its one job');
    expect(await job().enqueueAll([])).toEqual([]);
  });

  test("says what to do in a process that never connected", () => {
    const key = Symbol.for("belfry.client@1");
    Reflect.deleteProperty(globalThis, key);
    expect(() => boundClient()).toThrow("Belfry is not connected in this process: call `await connect()`");
    bindClient(null);
    expect(() => boundClient()).toThrow("Belfry is not connected in this process: call `await connect()`");
  });
});

describe("an error of a handler", () => {
  test.each([
    [() => new PermanentError("no"), "PERMANENT"],
    [() => new PermanentError("no", { code: "GONE" }), "GONE"],
    [() => new RetryLater("no"), "RETRY_LATER"],
    [() => new RetryLater("no", { code: "BUSY" }), "BUSY"],
    [() => new AmbiguousError("no"), "AMBIGUOUS"],
    [() => new AmbiguousError("no", { code: "SENT" }), "SENT"],
  ])("%s has the code %s", (made, code) => {
    expect(made().code).toBe(code);
  });

  test.each([
    ["PermanentError", PermanentError],
    ["RetryLater", RetryLater],
    ["AmbiguousError", AmbiguousError],
    ["InvalidPayload", InvalidPayload],
    ["KeyConflict", KeyConflict],
  ])("of another copy of Belfry is a %s by its mark", (name, known) => {
    const ofCopy = Object.defineProperty(new Error("no"), Symbol.for("belfry.error@1"), { value: name });
    expect(ofCopy instanceof known).toBe(true);
    expect(new Error("no") instanceof known).toBe(false);
  });

  test("of an HTTP answer without headers is left to the backoff", () => {
    expect(httpError({ status: 503 })).toMatchObject({ code: "HTTP_503", afterMs: null, message: "HTTP 503" });
  });
});

test.each([
  ["task/abc:1", "abc"],
  ["task/abc:", "abc"],
  ["task/:1", null],
  ["worker/abc:1", null],
  ["", null],
  [null, null],
])("the task of worker %j is %j", (worker, task) => {
  expect(taskOf(worker)).toBe(task);
});
