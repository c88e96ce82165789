import { afterEach, expect, test, describe } from "vitest";
import { z } from "zod";
import type { Job } from "../../src/define/context.ts";
import { defineJob, definitionOf } from "../../src/define/define-job.ts";
import { bindClient } from "../../src/machine/client.ts";
import type { JobId } from "../../src/machine/job.ts";
import { describe as line } from "../../src/define/problem.ts";
import { AmbiguousError, httpError, PermanentError, RetryLater } from "../../src/define/errors.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";

afterEach(() => bindClient(null));

const definitionWith = (more: object) => definitionOf(defineJob({ id: "a", run: () => {}, ...more }));
const problemsOf = (more: object): readonly string[] => definitionWith(more).problems.map(line);

test("a job that says nothing more than its id and handler gets the documented defaults", () => {
  expect(definitionOf(defineJob({ id: "hello", run: () => {} }))).toMatchObject({
    id: "hello",
    lane: "default",
    runOn: "lambda",
    size: null,
    timeoutMs: 30_000,
    leaseMs: 20_000,
    retry: { maxAttempts: 4, backoff: "exponential", baseMs: 1_000, capMs: 3_600_000, jitter: false },
    retentionMs: 30 * 86_400_000,
    onAmbiguous: "retry",
    concurrency: null,
    rate: null,
    circuit: null,
    lock: null,
    key: null,
    onSettled: null,
    problems: [],
  });
});

test.each<[string, Record<string, unknown>, string]>([
  [
    "an id in capitals",
    { id: "Send_Mail!" },
    'job "Send_Mail!": id "Send_Mail!" must be 1 to 64 characters: small letters',
  ],
  ["an id that is too long", { id: "a".repeat(65) }, "must be 1 to 64 characters"],
  [
    "a timeout in words",
    { timeout: "10 minutes" },
    'job "a": timeout "10 minutes" is not a duration; write a number and a unit',
  ],
  [
    "20 minutes on Lambda",
    { timeout: "20m" },
    'job "a": timeout "20m" must be at most 14m30s (on Lambda); use runOn: "fargate"',
  ],
  [
    "a lease without room for heartbeats",
    { lease: "500ms" },
    'lease "500ms" must be at least 1s (3 heartbeats have to fit into it)',
  ],
  ["no tries at all", { retry: { maxAttempts: 0 } }, "retry.maxAttempts 0 must be a whole number from 1 to 1000"],
  ["half a try", { retry: { maxAttempts: 1.5 } }, "retry.maxAttempts 1.5 must be a whole number"],
  [
    "a cap below the base",
    { retry: { maxAttempts: 2, base: "1m", cap: "5s" } },
    'retry.cap "5s" must not be shorter than retry.base',
  ],
  ["nothing at once", { concurrency: 0 }, "concurrency 0 must be a whole number from 1"],
  ["an unknown place to run", { runOn: "ec2" }, 'runOn "ec2" is not one of the choices; use "lambda" or "fargate"'],
  ["a retention shorter than messages live", { retention: "1d" }, 'retention "1d" must be at least 7d'],
  ["a lock name that is too long", { lock: { name: "l".repeat(129) } }, "lock.name"],
])("%s is a problem with name, value, rule and what to do", (_, options, expected) => {
  const found = problemsOf(options);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(expected);
});

test("all problems of a job are found together", () => {
  expect(problemsOf({ timeout: "soon", concurrency: -1, onAmbiguous: "ignore", lease: "1y" })).toHaveLength(4);
});

test("a payload is checked by its schema, which fills in defaults and names the path of each issue", async () => {
  const job = defineJob({
    id: "a",
    payload: z.object({ to: z.object({ mail: z.email() }), n: z.number().default(3) }),
    run: () => {},
  });
  const { check } = definitionOf(job);
  expect(await check({ to: { mail: "a@b.co" } })).toEqual({ ok: true, value: { to: { mail: "a@b.co" }, n: 3 } });
  expect(await check({ to: { mail: "nobody" } })).toMatchObject({ ok: false, issues: [{ path: "to.mail" }] });
});

test.each([z.void(), undefined])(
  "a void payload passes as nothing and as the null it is stored as",
  async (payload) => {
    const { check } = definitionOf(
      defineJob({ id: "a", ...(payload === undefined ? {} : { payload }), run: () => {} }),
    );
    expect(await check(undefined)).toEqual({ ok: true, value: undefined });
    expect(await check(null)).toEqual({ ok: true, value: undefined });
    expect(await check({ surprise: 1 })).toMatchObject({ ok: false });
  },
);

test("a schema that accepts null gets null", async () => {
  const { check } = definitionOf(
    defineJob({ id: "a", payload: z.object({ x: z.number() }).nullable(), run: () => {} }),
  );
  expect(await check(null)).toEqual({ ok: true, value: null });
});

test("key and onSettled may ask what stands beside them", async () => {
  const seen: unknown[] = [];
  const job = defineJob({
    id: "a",
    lane: "mail",
    payload: z.object({ x: z.number() }),
    key(p) {
      return `${this.lane}:${p.x}`;
    },
    run: () => {},
    async onSettled(p) {
      seen.push(this.lane, p.x);
    },
  });
  const definition = definitionOf(job);
  expect(definition.key?.({ x: 1 })).toBe("mail:1");
  const settled = { jobId: "1" as JobId, outcome: "SUCCESS", attempt: 1, final: true } as const;
  await definition.onSettled?.({ x: 2 }, settled, { query: async () => ({ rows: [], rowCount: 0 }) });
  expect(seen).toEqual(["mail", 2]);
});

test.each<[given: object, options: object, message: string]>([
  [{ dueAt: new Date() }, {}, 'item 0 of "a" must not have "dueAt": put it into the options of the item'],
  [{ options: { tx: null } }, {}, 'options of item 0 of "a" must not have "tx": put it into the options of the call'],
  [{ options: { delayMs: 5 } }, {}, 'options of item 0 of "a" must not have "delayMs": known are key, delay, dueAt'],
  [{}, { key: "k" }, 'options of all items of "a" must not have "key": put it into the options of the item'],
])("what enqueueAll would drop is refused: %j %j", async (given, options, message) => {
  bindClient({ enqueue: () => Promise.reject(new Error("it was enqueued")) });
  const job: Job<unknown> = defineJob({ id: "a", payload: z.unknown(), run() {} });
  await expect(job.enqueueAll([{ payload: null, ...given }], options)).rejects.toThrow(message);
});

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
    [{ concurrency: {} }, "concurrency {} has neither max nor perKey; say how many: 5, or { perKey: 5, key: ... }"],
    [
      { concurrency: { max: 0 } },
      "concurrency.max 0 must be a whole number from 1 to 10000; change it, or leave it out for the default",
    ],
    [
      { concurrency: { perKey: 1_001, key: String } },
      "concurrency.perKey 1001 must be a whole number from 1 to 1000; change it, or leave it out for the default",
    ],
    [
      { concurrency: { perKey: 5 } },
      "concurrency.key (missing) must be a function of the payload that answers a text; write (payload) => payload.customer, or leave perKey out",
    ],
    [
      { concurrency: { max: 3, perKey: 5, key: String } },
      "concurrency.perKey 5 must not be more than max, 3; leave out one of the two",
    ],
    [{ concurrency: { max: 3, each: 5 } }, "concurrency.each 5 is not known; use max, perKey, key"],
    [{ rate: 100 }, 'rate 100 must be an object; write { limit: 100, per: "1s" }'],
    [{ rate: { limit: 100 } }, 'rate.per (missing) is needed; write { limit: 100, per: "1s" }'],
    [{ rate: { limit: 5, per: "500ms" } }, 'rate.per "500ms" must be at least 1s; use a longer one'],
    [{ rate: { limit: 5, per: "25h" } }, 'rate.per "25h" must be at most 1d; use a shorter one'],
    [{ rate: { limit: 5, per: "1s", each: 1 } }, "rate.each 1 is not known; use limit, per, burst, key"],
    [
      { rate: { limit: 5, per: "1s", key: "customer" } },
      'rate.key "customer" must be a function of the payload that answers a text; write (payload) => payload.customer, or leave it out',
    ],
    [
      { rate: { limit: 5, per: "1s", burst: 6 } },
      "rate.burst 6 must be a whole number from 1 to 5; change it, or leave it out for the default",
    ],
    [
      { rate: { limit: 150, per: "1s", burst: 100 } },
      "rate.burst 100 leaves 100 of 150: 100 start in each of 1 equal windows of whole ms; choose a burst that divides the limit, or a larger one",
    ],
    [{ retry: { maxAttempts: 1, base: "0ms" } }, 'retry.base "0ms" must be at least 1ms; use a longer one'],
    [{ retry: { maxAttempts: 1, cap: "367d" } }, 'retry.cap "367d" must be at most 366d; use a shorter one'],
    [
      { retry: { maxAttempts: 1_001 } },
      "retry.maxAttempts 1001 must be a whole number from 1 to 1000; change it, or leave it out for the default",
    ],
  ])("may not be %j", (more, expected) => {
    expect(problemsOf(more)).toEqual([`job "a": ${expected}`]);
  });

  test.each([
    [100, 100, 1_000],
    [101, 50, 500],
    [150, 75, 500],
    [10_000, 100, 10],
  ])("of a rate: of %d a second %d may start at once, each slot again after %d ms", (limit, size, windowMs) => {
    const definition = definitionWith({ rate: { limit, per: "1s" } });
    expect(definition.problems).toEqual([]);
    expect(definition.slotGroups).toMatchObject([{ key: "rate:a", size, windowMs }]);
  });

  test("are waited by: base and cap, or one's own function up to the longest delay", () => {
    const given = { maxAttempts: 2, base: "2h", jitter: true, backoff: "fixed" };
    expect(definitionWith({ retry: given }).retry).toMatchObject({ capMs: 7_200_000, jitter: true, backoff: "fixed" });
    const own = definitionWith({ retry: { maxAttempts: 2, backoff: (failures: number) => `${failures + 1}m` } }).retry;
    expect(own).toMatchObject({ capMs: contractLimits.delayMsMax, backoff: expect.any(Function) as unknown });
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

  test("is said with what is sold, and where a task is needed for it", () => {
    const rule = 'job "a": size.memoryMb';
    expect(on(256, 1_536)).toEqual([`${rule} 1536 is not sold with a cpu of 256; use 512, 1024, 2048`]);
    expect(on(8_192, 17_408)[0]).toContain("use 16384 to 61440 in steps of 4096");
    expect(problemsOf({ size: { cpu: 256, memoryMb: 512 } })[0]).toContain('use runOn: "fargate"');
  });

  test.each(["toString", "constructor", 0, 32_768])("has no cpu of %j", (cpu) => {
    const sizes = "256, 512, 1024, 2048, 4096, 8192, 16384";
    expect(on(cpu, 512)).toEqual([
      `job "a": size.cpu ${JSON.stringify(cpu)} is not a size of Fargate; use one of ${sizes}`,
    ]);
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

  test("of an HTTP answer without headers is left to the backoff", () => {
    expect(httpError({ status: 503 })).toMatchObject({ code: "HTTP_503", afterMs: null, message: "HTTP 503" });
  });
});
