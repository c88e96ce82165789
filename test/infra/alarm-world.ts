/** What real passes and a real worker write: once healthy, and once for each thing that the alarms are for. */
import { vi } from "vitest";
import { createMetrics } from "../../src/adapters/telemetry/metrics.ts";
import type { Context, Job } from "../../src/core/define/context.ts";
import { AmbiguousError } from "../../src/core/define/errors.ts";
import { defineApp } from "../../src/core/define/define-app.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { defineSchedule } from "../../src/core/define/define-schedule.ts";
import { defineSweep } from "../../src/core/define/define-sweep.ts";
import { sql } from "../../src/core/define/query.ts";
import type { Launched } from "../../src/core/ports/launcher.ts";
import { contractLimits } from "../../src/core/job/contract-limits.ts";
import { measureHealth } from "../../src/core/admin/measure-health.ts";
import type { Health, Minute } from "../../src/core/ports/overview.ts";
import { runPasses } from "../../src/core/scheduler/pass.ts";
import { type Stage, stages } from "../../src/stages.ts";
import { topology } from "../../src/topology.ts";
import { registryFor, shop, world, type World } from "../core/world.ts";
import { type Emitted, emittedIn } from "./emitted.ts";

const batch = defineJob({
  id: "batch",
  timeout: "10m",
  onAmbiguous: "park",
  retry: { maxAttempts: 1 },
  run: async (_, ctx) => fault.handler(ctx),
});
const sweep = defineSweep({
  id: "due",
  due: () => sql`select 1 as id`,
  key: () => "k",
  each: batch,
  payload: () => undefined,
  maxLateness: "60s",
});
const long = defineJob({ id: "long", runOn: "fargate", concurrency: 1, run: () => {} });
const each = { cron: "* * * * *", timezone: "UTC" } as const;
const app = defineApp({
  name: "app",
  jobs: [batch, sweep, long],
  schedules: [defineSchedule({ id: "batch", ...each, run: batch }), defineSchedule({ id: "due", ...each, run: sweep })],
});
/** A stage in which every alarm is made. */
const stage: Stage = { ...stages.dev, onLockOutage: "skip" };
export const watched = topology([app], stage);

type Handler = (ctx: Context) => Promise<void>;

const items =
  (failed: number): Handler =>
  async (ctx) => {
    const page = { processed: 10, succeeded: 10 - failed, failed, hasMore: false };
    await ctx.batches({ size: 10, maxIterations: 1 }, async () => page);
  };
/** What the job does: set by each fault before it works. */
const fault: { handler: Handler } = { handler: items(0) };

export const healthy = (): Promise<readonly Emitted[]> =>
  written(async () => {
    await passes({});
    await work(batch, items(0));
    await work(sweep, items(0));
    await measured({}, { started: 100 });
  });

/** By what is wrong: the lines of that fault alone. */
export const faults: Readonly<Record<string, () => Promise<readonly Emitted[]>>> = {
  "no task runs": () => written(async () => {}),
  "ten tasks at once": () => written(() => passes({ tasks: 10 })),
  "the lock store is away": () => written(() => passes({ isDown: true })),
  "the lock store is away and Postgres does not stand in": () => written(() => passes({ isDown: true, skips: true })),
  "steps of the pass fail": () => written(() => passes({ isBroken: true })),
  "workers go silent": () => written(() => measured({}, { started: 100, lost: 2 })),
  "times are left undecided": () => written(() => measured({ overdue: 1 })),
  "dead rows pile up": () => written(() => measured({ deadRowsPercent: 60 })),
  "the database's clock stepped back": () => written(() => measured({ clockBehindMs: 60_000 })),
  "a transaction stays open": () => written(() => measured({ oldestTransactionMs: 700_000 })),
  "half of the items fail": () => written(() => work(batch, items(5))),
  "a try takes six minutes": () => written(() => work(batch, items(0), { slowMs: 360_000 })),
  "a sweep's query takes six minutes": () => written(() => work(sweep, items(0), { slowMs: 360_000 })),
  "a job starts two minutes late": () => written(() => work(batch, items(0), { lateMs: 120_000 })),
  "a sweep starts two minutes late": () => written(() => work(sweep, items(0), { lateMs: 120_000 })),
  "ECS refuses a task": () => written(() => launch(() => Promise.reject(new Error("no such task definition")))),
  "Fargate has no room": () => written(() => launch(async () => ({ is: "no-room", reason: "RESOURCE:MEMORY" }))),
  "a call has no answer": () => written(() => work(batch, () => Promise.reject(new AmbiguousError("no answer")))),
};

/** Metrics go to a console of their own, so the stream below it is watched. */
async function written(act: () => Promise<void>): Promise<readonly Emitted[]> {
  const lines: string[] = [];
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    lines.push(...String(text).split("\n"));
    return true;
  });
  try {
    await act();
  } finally {
    spy.mockRestore();
  }
  return emittedIn(lines);
}

const schedulerMetrics = () => createMetrics({ service: "scheduler", dimensions: { stage: stage.name } });

async function passes(how: { tasks?: number; isDown?: true; skips?: true; isBroken?: true }): Promise<void> {
  const metrics = schedulerMetrics();
  const away = (): Promise<never> => Promise.reject(new Error("away"));
  const ports = world((base) => ({
    metrics,
    ...(how.isDown ? { locks: Object.assign({}, base.locks, { read: away, take: away }) } : {}),
    ...(how.isBroken
      ? { store: Object.assign({}, base.store, { relay: away, rescue: away, dueSchedules: away }) }
      : {}),
  }));
  const tasks = Array.from({ length: how.tasks ?? 1 }, () =>
    runPasses(ports, registryFor(), {
      owner: "task",
      stage: stage.name,
      untilMs: 3_000,
      dispatchWindowMs: contractLimits.dispatchWindowMs,
      onLockOutage: how.skips ? "skip" : "postgres",
      signal: new AbortController().signal,
    }),
  );
  await advanceUntil(ports, Promise.allSettled(tasks), 1_000);
}

async function measured(health: Partial<Health>, minute: Partial<Minute> = {}): Promise<void> {
  const metrics = schedulerMetrics();
  const quiet = { created: 0, succeeded: 0, failed: 0, retried: 0, canceled: 0, skipped: 0, runMs: 0 };
  await measureHealth(
    { metrics, log: world().log },
    {
      health: async () => ({
        now: 200_000,
        overdue: 0,
        deadRowsPercent: 0,
        oldestTransactionMs: 0,
        clockBehindMs: 0,
        ...health,
      }),
      minutes: async () => [{ ...quiet, at: 120_000, started: 0, lost: 0, ...minute }],
    },
  );
  metrics.flush();
}

async function work(job: Job<void>, handler: Handler, { lateMs = 0, slowMs = 0 } = {}): Promise<void> {
  const dimensions = { stage: stage.name, lane: "default" };
  const metrics = createMetrics({ service: "worker", dimensions, jobs: watched.jobs.map(({ kind }) => kind) });
  const at = await shop(
    [batch, sweep],
    world(({ store, clock }) => {
      const slowly = async <T>(act: () => Promise<T>): Promise<T> => {
        await clock.sleep(slowMs);
        return act();
      };
      fault.handler = (ctx) => slowly(() => handler(ctx));
      const transaction: typeof store.transaction = (act, options) => slowly(() => store.transaction(act, options));
      return { metrics, store: job === sweep ? Object.assign({}, store, { transaction }) : store };
    }),
  );
  await at.enqueue(job, undefined);
  await at.world.clock.advance(lateMs);
  await advanceUntil(at.world, at.work(), 1_000);
  metrics.flush();
}

async function launch(answer: () => Promise<Launched>): Promise<void> {
  const metrics = createMetrics({ service: "worker", dimensions: { stage: stage.name, lane: "default" } });
  const at = await shop(
    [long],
    world(() => ({ metrics, launcher: { launch: answer, stop: async () => {} } })),
  );
  await at.enqueue(long, undefined);
  await advanceUntil(at.world, at.work(), 1_000);
  metrics.flush();
}

async function advanceUntil(ports: World, end: Promise<unknown>, stepMs: number): Promise<void> {
  const ended = new AbortController();
  const seen = end.finally(() => ended.abort());
  while (!ended.signal.aborted) await ports.clock.advance(stepMs);
  await seen;
}
