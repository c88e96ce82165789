import { describe, expect, test } from "vitest";
import { AmbiguousError, InvalidPayload, PermanentError, RetryLater } from "../../src/core/define/errors.ts";
import type { Context } from "../../src/core/define/context.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { reasons } from "../../src/core/job/reasons.ts";
import { StoreAway, type Store, UnknownOutcome } from "../../src/core/ports/ports.ts";
import { outcomeOf, runHandler, type HandlerEnd } from "../../src/core/work/handler.ts";
import { Interruption } from "../../src/core/work/interruption.ts";
import { workerLimits } from "../../src/core/work/worker-limits.ts";
import { claimRig } from "./claim-rig.ts";
import { aClaimed } from "./rows.ts";
import { registryFor, sum } from "./world.ts";

const retryable = (code: string, message: string) => ({ is: "retryable", code, message, afterMs: null });

describe("the outcome of an error", () => {
  const named = (error: Error, name: string): Error => Object.assign(error, { name });
  test.each<[string, unknown, object]>([
    ["an error", new TypeError("x"), retryable("TypeError", "x")],
    ["an error with a code", Object.assign(new Error("x"), { code: "E1" }), retryable("E1", "x")],
    ["an error whose code is empty", Object.assign(new Error("x"), { code: "" }), retryable("Error", "x")],
    ["an error whose code is a number", Object.assign(new Error("x"), { code: 7 }), retryable("Error", "x")],
    ["an error with a name of its own", named(new Error("x"), "Mine"), retryable("Mine", "x")],
    ["an object with a code", { code: "E2", toString: () => "y" }, retryable("E2", "y")],
    ["an object without one", { toString: () => "y" }, retryable("ERROR", "y")],
    ["an object whose code is empty", { code: "", toString: () => "y" }, retryable("ERROR", "y")],
    ["a function", Object.assign(() => 1, { code: "E3", toString: () => "z" }), retryable("ERROR", "z")],
    ["a text", "no", retryable("ERROR", "no")],
    ["null", null, retryable("ERROR", "null")],
    ["undefined", undefined, retryable("ERROR", "undefined")],
    ["a symbol", Symbol("s"), retryable("ERROR", "Symbol(s)")],
    ["what has no text", Object.create(null), retryable("ERROR", "something was thrown that has no text")],
    ["a PermanentError", new PermanentError("x", { code: "P" }), { is: "permanent", code: "P", message: "x" }],
    ["an AmbiguousError", new AmbiguousError("x"), { is: "ambiguous", code: "AMBIGUOUS", message: "x" }],
    ["a RetryLater", new RetryLater("x", { after: "3s", code: "R" }), { ...retryable("R", "x"), afterMs: 3_000 }],
    ["an absent store", new StoreAway("x"), { is: "released", reason: reasons.storeAway }],
    ["an unknown commit", new UnknownOutcome("x"), { is: "released", reason: reasons.storeAway }],
  ])("of %s", (_, error, outcome) => {
    expect(outcomeOf(error, null)).toEqual(outcome);
  });

  test("of a refused payload is permanent", () => {
    expect(outcomeOf(new InvalidPayload("k", []), null)).toMatchObject({ is: "permanent", code: "INVALID_PAYLOAD" });
  });

  test.each(["deadline", "stopped", "lost", "lapsed"] as const)("under the interruption %s is a release", (why) => {
    expect(outcomeOf(new PermanentError("x"), new Interruption(why))).toEqual({ is: "released", reason: why });
  });

  test("under a timeout is that timeout, whatever was thrown", () => {
    const outcome = retryable("TIMEOUT", "the handler did not finish within its timeout");
    expect(outcomeOf(new PermanentError("x"), new Interruption("timeout"))).toEqual(outcome);
    expect(outcomeOf(new StoreAway("x"), new Interruption("timeout"))).toEqual(outcome);
  });
});

interface Conditions {
  readonly remainingMs?: number;
  readonly passMs?: number;
  readonly heartbeat?: Store["heartbeat"];
}

/** Runs one handler with a timeout of 30 s, and lets time pass. */
async function ended(
  run: (ctx: Context) => unknown,
  { remainingMs = 600_000, passMs = 0, heartbeat = async (held) => held }: Conditions = {},
) {
  const { ports, scope } = claimRig({ store: { heartbeat } });
  const job = defineJob({ id: "job", timeout: "30s", run: async (_, ctx) => (await run(ctx)) as never });
  const claimed = aClaimed("1", { kind: "job" });
  const worker = { ...scope, registry: registryFor(job) };
  worker.leases.hold(claimed);
  let end: HandlerEnd | null = null;
  void runHandler(worker, claimed, () => remainingMs).then((each) => (end = each));
  await ports.clock.advance(passMs);
  return { end: end as HandlerEnd | null, ports };
}

const outcomeIn = (end: HandlerEnd | null) => (end?.is === "outcome" ? end.outcome : null);
const obedient = (ctx: Context) =>
  new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason as Error)));

describe("the end of a handler", () => {
  test.each([
    ["nothing", undefined, null],
    ["null", null, null],
    ["false", false, false],
    ["a value", { n: 1 }, { n: 1 }],
  ])("that returns %s has it as its result, and no detail", async (_, value, result) => {
    const { end } = await ended(() => value);
    expect(end).toEqual({ is: "outcome", outcome: { is: "success", result }, children: [] });
  });

  test("whose lease lapsed is written all the same: the attempt may still be this worker's", async () => {
    const listening = (ctx: Context) => obedient(ctx).catch(() => ({ n: 1 }));
    const away = () => Promise.reject(new Error("no connection"));
    const passMs = aClaimed("1").leaseMs + workerLimits.heartbeatRetryMs;
    const { end } = await ended(listening, { heartbeat: away, passMs });
    expect(outcomeIn(end)).toEqual({ is: "success", result: { n: 1 } });
  });

  test("that throws has where it was thrown, and its last lines", async () => {
    const { end } = await ended((ctx) => {
      ctx.log.info("one step before");
      throw new TypeError("broken", { cause: new Error("why") });
    });
    const { stack, log } = (outcomeIn(end) as { detail?: { stack?: string; log?: readonly object[] } }).detail ?? {};
    expect(stack).toContain("handler-end.test.ts");
    expect(log).toMatchObject([{ text: "one step before" }]);
  });

  test("that its timeout ended has its last lines, and no stack of the timer", async () => {
    const { end } = await ended(
      (ctx) => {
        ctx.log.info("where it was");
        return obedient(ctx);
      },
      { passMs: 30_000 },
    );
    const log = [{ text: "where it was" }];
    expect(outcomeIn(end)).toMatchObject({ code: "TIMEOUT", detail: { stack: null, causes: [], log } });
  });

  test("that was released has no detail", async () => {
    const { end } = await ended(
      (ctx) => {
        ctx.log.info("where it was");
        return obedient(ctx);
      },
      { passMs: 30_000, remainingMs: 10_000 },
    );
    expect(outcomeIn(end)).toEqual({ is: "released", reason: "deadline" });
  });
});

describe("a handler's time is", () => {
  const marginMs = workerLimits.deadlineMarginMs;
  test.each([
    ["its timeout, when the worker has more time", 60_000, 30_000, "retryable"],
    ["its timeout, when the worker's time ends at that moment", 30_000 + marginMs, 30_000, "retryable"],
    ["the worker's, when that ends a moment before", 30_000 + marginMs - 1, 29_999, "released"],
    ["none, when the worker's is over", marginMs, 0, "released"],
    ["none, when less than its margin is left", 1_000, 0, "released"],
  ])("%s", async (_, remainingMs, atMs, is) => {
    const { end, ports } = await ended(obedient, { remainingMs, passMs: 60_000 });
    expect(outcomeIn(end)).toMatchObject({ is });
    expect(sum(ports.measured, "scheduler.execution.time", "job")).toBe(atMs);
  });
});
