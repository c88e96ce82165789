import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import type { Context } from "../../src/core/define/context.ts";
import { defineJob, definitionOf } from "../../src/core/define/define-job.ts";
import type { HandlerBody } from "../../src/core/define/definition.ts";
import { bindClient, type EnqueueItem } from "../../src/core/ports/client.ts";
import type { JobId } from "../../src/core/job/job.ts";
import { describe as line } from "../../src/core/define/problem.ts";

afterEach(() => bindClient(null));

const problemsOf = (options: Record<string, unknown>): readonly string[] =>
  (definitionOf(defineJob({ id: "a", run: () => {}, ...options })).problems ?? []).map(line);

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
    lock: null,
    key: null,
    onSettled: null,
    problems: [],
  });
});

test("durations become milliseconds, and a lock without a name has the job's", () => {
  const job = defineJob({ id: "a", timeout: "14m", lock: {}, run: () => {} });
  expect(definitionOf(job)).toMatchObject({ timeoutMs: 840_000, leaseMs: 20_000, lock: { name: "a" } });
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

test("a size that Fargate does not sell is refused, and so is one without a task", () => {
  const on = (cpu: number, memoryMb: number): readonly string[] =>
    problemsOf({ runOn: "fargate", size: { cpu, memoryMb } });
  expect(on(256, 512)).toEqual([]);
  expect(on(256, 1_536)).toEqual(['job "a": size.memoryMb 1536 is not sold with a cpu of 256; use 512, 1024, 2048']);
  expect(on(1_024, 8_192)).toEqual([]);
  expect(on(1_024, 1_024)[0]).toContain("use 2048 to 8192 in steps of 1024");
  expect(on(8_192, 17_408)[0]).toContain("use 16384 to 61440 in steps of 4096");
  expect(on(300, 512)[0]).toContain("size.cpu 300 is not a size of Fargate; use one of 256, 512");
  expect(problemsOf({ size: { cpu: 256, memoryMb: 512 } })[0]).toContain('use runOn: "fargate"');
});

test("20 minutes are fine on Fargate", () => {
  expect(problemsOf({ timeout: "20m", runOn: "fargate" })).toEqual([]);
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

test("handler, key and onSettled get the payload", async () => {
  const seen: unknown[] = [];
  const job = defineJob({
    id: "a",
    payload: z.object({ x: z.number() }),
    key: (p) => `k${p.x}`,
    run: (p) => ({ twice: p.x * 2 }),
    onSettled: async (p, settled) => void seen.push(p.x, settled.outcome),
  });
  const definition = definitionOf(job);
  expect(definition.key?.({ x: 1 })).toBe("k1");
  expect(await handlerOf(job)({ x: 2 }, {} as Context)).toEqual({ twice: 4 });
  await definition.onSettled?.(
    { x: 3 },
    { jobId: "1" as JobId, outcome: "success", attempt: 1, final: true },
    {
      query: async () => ({ rows: [], rowCount: 0 }),
    },
  );
  expect(seen).toEqual([3, "success"]);
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
  const settled = { jobId: "1" as JobId, outcome: "success", attempt: 1, final: true } as const;
  await definition.onSettled?.({ x: 2 }, settled, { query: async () => ({ rows: [], rowCount: 0 }) });
  expect(seen).toEqual(["mail", 2]);
});

function handlerOf(job: Parameters<typeof definitionOf>[0]): HandlerBody["run"] {
  const { body } = definitionOf(job);
  if (body.is !== "handler") throw new Error(`"${job.id}" has no handler`);
  return body.run;
}

test("a handler that throws rejects", async () => {
  const run = handlerOf(
    defineJob({
      id: "a",
      run: () => {
        throw new Error("no");
      },
    }),
  );
  await expect(run(undefined, {} as Context)).rejects.toThrow("no");
});

test("enqueue goes through the bound client with delays in milliseconds", async () => {
  const sent: { kind: string; items: readonly EnqueueItem[] }[] = [];
  bindClient({
    async enqueue(definition, items) {
      sent.push({ kind: definition.id, items });
      return items.map((_, index) => ({ id: String(index + 1) as JobId, created: true }));
    },
  });
  const job = defineJob({ id: "a", payload: z.object({ x: z.number() }), run: () => {} });
  expect(await job.enqueue({ x: 1 }, { key: "k", delay: "10m" })).toEqual({ id: "1", created: true });
  expect(await job.enqueueAll([{ payload: { x: 2 } }, { payload: { x: 3 }, options: { delay: "1s" } }])).toHaveLength(
    2,
  );
  expect(sent).toMatchObject([
    { kind: "a", items: [{ payload: { x: 1 }, key: "k", delayMs: 600_000 }] },
    { kind: "a", items: [{ payload: { x: 2 } }, { payload: { x: 3 }, delayMs: 1_000 }] },
  ]);
});

test("enqueueing before anything is connected says what to do", async () => {
  await expect(defineJob({ id: "a", run: () => {} }).enqueue()).rejects.toThrow("not connected");
});

test("an object that was not defined is refused by name", () => {
  expect(() => definitionOf({ id: "made-up" })).toThrow('"made-up" is not a job: make it with defineJob');
});
