import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Context, Job } from "../../src/define/context.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineCalendar } from "../../src/define/define-calendar.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import { registry, type Registry, type ScheduleDefinition } from "../../src/define/definition.ts";
import { PermanentError, RetryLater } from "../../src/define/errors.ts";
import type { FlowFacts } from "../invariants/flow-control.ts";
import type { Seen } from "../invariants/signaled.ts";
import { broken, families } from "./families.ts";
import { flowControlled } from "./flow-control.ts";
import { flow } from "./graph.ts";
import { asking } from "./signals.ts";

/** What a handler may do to the world around it. */
export interface Surroundings {
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls an outside target that keeps its own ledger. */
  target(effect: { key: string; jobId: string; attempt: number }): Promise<void>;
  /** One call of many jobs. */
  batch(jobs: FlowFacts["calls"][number]): Promise<void>;
  /** What a task found that its wait had brought. */
  see(seen: Seen): Promise<void>;
  /** Whether the target of the kind `calling` refuses every call: while faults are on. */
  isDown(): boolean;
  /** While faults are on, the process dies: `process.exit`, out of memory. */
  die(): Promise<void>;
}

export interface Payload {
  /** Names the enqueue that asked for this job. */
  readonly mark?: string;
  /** The job whose handler enqueued this one. */
  readonly parent?: string;
  readonly parentAttempt?: number;
  readonly workMs: number;
  /** Tries that fail before one succeeds. */
  readonly failures?: number;
  /** Tries that kill their process. */
  readonly kills?: number;
}

export interface SimApp {
  readonly registry: Registry;
  /** By kind: what a client may enqueue. */
  readonly jobs: ReadonlyMap<string, Job<Payload>>;
}

const anything: StandardSchemaV1<Payload, Payload> = {
  "~standard": { version: 1, vendor: "sim", validate: (value) => ({ value: value as Payload }) },
};

/** What definitions have in common, and the plain handler. */
export type Made = typeof quick & { readonly run: (payload: Payload, ctx: Context) => Promise<void> };

const quick = {
  payload: anything,
  lease: "2s",
  timeout: "6s",
  retry: { maxAttempts: 4, base: "1s", cap: "30s" },
} as const;

/** Kinds whose success writes one row in its own transaction. */
export const transactionalKinds = ["transfer"] as const;
/** Children each successful job of a kind leaves. */
export const childrenOf = new Map([
  ["parent", 2],
  ["transfer", 1],
]);
const keyOf = ({ mark }: Payload): string => concurrencyKeyOf(mark);
export const byKeySizes = { all: 2, each: 1 };
export const concurrencyKeys = ["0", "1", "2"] as const;
/** One of three keys for each label. */
export const concurrencyKeyOf = (mark: string | null | undefined): string =>
  String((mark ?? "0").charCodeAt((mark ?? "0").length - 1) % 3);
/** What clients enqueue. */
export const enqueuedKinds = [
  "plain",
  "flaky",
  "permanent",
  "capped",
  "capped",
  "capped",
  "by-key",
  "by-key",
  "locked",
  "guarded",
  "transfer",
  "parent",
  "poison",
  "slow",
  "flow",
  "burst",
  "burst",
  "rated",
  "rated",
  "batched",
  "batched",
  "calling",
  "calling",
] as const;

/** The definitions of one process: its handlers sleep, call and die in that process. `everyMs` differs by release. */
export function simApp(world: Surroundings, everyMs: number): SimApp {
  const made = { ...quick, run: work(world) };
  const jobs = [
    ...simple(world),
    ...slotted(world),
    ...families(world, made),
    ...broken(world, made),
    ...flowControlled(world, { ...made, key: keyOf }),
    flowOf(world),
    asking(world, made),
  ];
  const app = {
    ...defineApp({ name: "sim", jobs, schedules: [], lanes: { mail: {} } }),
    schedules: schedulesOf(everyMs),
  };
  return { registry: registry([app]), jobs: new Map(jobs.map((job) => [job.id, job])) };
}

const unused = (): Promise<never> => Promise.reject(new Error("a schedule runs nothing by itself"));
const nowhere: Surroundings = {
  sleep: unused,
  target: unused,
  die: unused,
  batch: unused,
  see: unused,
  isDown: () => false,
};

/** Made once for each period: a run has hundreds of processes. */
function oncePer<T>(make: (everyMs: number) => T): (everyMs: number) => T {
  const made = new Map<number, T>();
  return (everyMs) => {
    const known = made.get(everyMs) ?? make(everyMs);
    made.set(everyMs, known);
    return known;
  };
}

/** For what runs no handler. */
export const appOf = oncePer((everyMs) => simApp(nowhere, everyMs));

/** Enough for a time of `lined` that starts when it is due, and not for each that waits. */
export const followedWithinMs = 8_000;

const schedulesOf = oncePer((everyMs): readonly ScheduleDefinition[] => {
  const often = { payload: { workMs: 400 }, run: sweepJob(nowhere) } as const;
  // Its times fire on the next day, that of the simulation. Some releases name another day too.
  const dates = ["2026-10-31", ...(everyMs > 10_000 ? ["2026-11-02"] : [])];
  const except = defineCalendar({ id: "eve", dates });
  return [
    defineSchedule({ id: "minutely", cron: "* * * * *", timezone: "UTC", ...often }),
    defineSchedule({ id: "moved", cron: "* * 31 10 *", timezone: "UTC", onExcluded: "next", except, ...often }),
    defineSchedule({ id: "often", every: `${everyMs}ms`, overlap: "skip", misfire: "all", ...often }),
    defineSchedule({ id: "flows", every: "15s", overlap: "skip", payload: { workMs: 700 }, run: flowOf(nowhere) }),
    defineSchedule({ id: "lined", every: "14s", overlap: "queue-all", ...often, payload: { workMs: 5_000 } }),
    defineSchedule({
      id: "newest",
      every: "9s",
      overlap: "cancel-running",
      payload: { workMs: 12_000 },
      run: longJob(nowhere),
    }),
    defineSchedule({
      id: "renewed",
      every: "21s",
      overlap: "cancel-running",
      payload: { workMs: 3_000 },
      run: flowOf(nowhere),
    }),
    defineSchedule({
      id: "asks",
      every: "16s",
      payload: { workMs: 1_500 },
      run: asking(nowhere, { ...quick, run: work(nowhere) }),
    }),
    defineSchedule({ id: "follows", after: { schedule: "lined", within: `${followedWithinMs}ms` }, ...often }),
    defineSchedule({ id: "queued", every: "25s", overlap: "queue-one", ...often, payload: { workMs: 6_000 } }),
  ];
});

const flowOf = (world: Surroundings): Job<Payload> =>
  flow(world, {
    schema: anything,
    limits: { lease: "2s", timeout: "6s" },
    then: defineJob({ id: "closing", ...quick, run: work(world) }),
  });
/** Ends at its signal, and not at once. */
const longJob = (world: Surroundings): Job<Payload> =>
  defineJob({
    id: "long",
    ...quick,
    timeout: "20s",
    async run(payload, ctx) {
      await world.sleep(payload.workMs, ctx.signal);
      await world.sleep(700, new AbortController().signal);
      ctx.signal.throwIfAborted();
    },
  });
const sweepJob = (world: Surroundings): Job<Payload> => defineJob({ id: "sweep", ...quick, run: work(world) });

type Run = Made["run"];

function work(world: Surroundings): Run {
  return async (payload, ctx) => {
    await world.sleep(payload.workMs, ctx.signal);
    ctx.signal.throwIfAborted();
    await world.target({ key: ctx.effectKey("call"), jobId: ctx.jobId, attempt: ctx.attempt });
  };
}

function simple(world: Surroundings): Job<Payload>[] {
  const run = work(world);
  const flaky: Run = async (payload, ctx) => {
    await world.sleep(payload.workMs, ctx.signal);
    if (ctx.failures >= (payload.failures ?? 0)) return;
    if (payload.workMs % 3 === 0) throw new RetryLater("busy", { after: "25s" });
    throw new Error("failed this time");
  };
  const log = async (_payload: Payload, settled: { jobId: string; attempt: number }, tx: { query: Query }) => {
    await tx.query("insert into log (job_id, attempt) values ($1, $2)", [settled.jobId, settled.attempt]);
  };
  return [
    defineJob({ id: "plain", ...quick, run }),
    sweepJob(world),
    longJob(world),
    defineJob({ id: "child", ...quick, lane: "mail", run }),
    defineJob({ id: "flaky", ...quick, run: flaky, onSettled: log }),
    defineJob({
      id: "permanent",
      ...quick,
      run: async () => {
        throw new PermanentError("never works");
      },
    }),
  ];
}

type Query = (text: string, values?: unknown[]) => Promise<unknown>;

function slotted(world: Surroundings): Job<Payload>[] {
  const run = work(world);
  return [
    defineJob({ id: "capped", ...quick, concurrency: 2, run }),
    defineJob({
      id: "by-key",
      ...quick,
      concurrency: { max: byKeySizes.all, perKey: byKeySizes.each, key: keyOf },
      run,
    }),
    defineJob({ id: "locked", ...quick, lock: { name: "one" }, run }),
    defineJob({
      id: "guarded",
      ...quick,
      timeout: "20s",
      run: async (payload, ctx) => {
        const got = await ctx.withLock("guard", { ttl: "3s" }, async (signal) => {
          await world.sleep(payload.workMs, signal);
        });
        if (!got.acquired) throw new RetryLater("another job has it", { after: "2s" });
      },
    }),
  ];
}
