import { readFileSync } from "node:fs";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { usualAlarms } from "../../infra/constructs/alarm-choices.ts";
import { ownNamespace } from "../../infra/constructs/alarms.ts";
import { createMetrics, namespace } from "../../src/adapters/telemetry/metrics.ts";
import { defineApp } from "../../src/core/definitions/define-app.ts";
import { defineJob } from "../../src/core/definitions/define-job.ts";
import { defineSchedule } from "../../src/core/definitions/define-schedule.ts";
import { limits } from "../../src/core/limits.ts";
import { runPasses } from "../../src/core/pass.ts";
import type { Metrics } from "../../src/core/ports.ts";
import { stages } from "../../src/stages.ts";
import { topology } from "../../src/topology.ts";
import { type Emitted, emittedIn, valueOf } from "./emitted.ts";
import { resources, templateOf } from "./synthesize.ts";
import { running } from "../contract/store/fixture.ts";
import { registryFor, shop, world } from "../core/world.ts";

const sweep = defineJob({
  id: "sweep",
  run: (_, ctx) =>
    ctx.batches({ size: 10, maxIterations: 1 }, async () => ({
      processed: 10,
      succeeded: 5,
      failed: 5,
      hasMore: false,
    })),
});
const app = defineApp({
  name: "app",
  schedules: [defineSchedule({ id: "each", cron: "* * * * *", timezone: "UTC", run: sweep })],
});
const template = templateOf(topology([app], stages.dev));
const alarms = resources(template, "AWS::CloudWatch::Alarm");

let lines: string[] = [];
/** The metrics go to a console of their own, so the stream below it is watched. */
const capture = () =>
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    lines.push(...String(text).split("\n"));
    return true;
  });
afterEach(() => vi.restoreAllMocks());

/** What real passes and a real worker write, once healthy and once with everything wrong that the alarms are for. */
async function emitted(): Promise<readonly Emitted[]> {
  lines = [];
  const spy = capture();
  const scheduler = createMetrics({ service: "scheduler", dimensions: { stage: "dev" } });
  await passes(scheduler, {});
  await passes(scheduler, { down: true });
  await passes(scheduler, { broken: true });
  await passes(scheduler, { silent: true });
  const worker = createMetrics({ service: "worker", dimensions: { stage: "dev", lane: "default" }, jobs: ["sweep"] });
  await work(worker);
  spy.mockRestore();
  return emittedIn(lines);
}

async function passes(metrics: Metrics, fault: { down?: true; broken?: true; silent?: true }): Promise<void> {
  const away = (): Promise<never> => Promise.reject(new Error("away"));
  const ports = world((base) => ({
    metrics,
    ...(fault.down ? { locks: Object.assign({}, base.locks, { read: away, take: away }) } : {}),
    ...(fault.broken
      ? { store: Object.assign({}, base.store, { relay: away, rescue: away, dueSchedules: away }) }
      : {}),
  }));
  if (fault.silent) {
    await running(ports.store);
    await ports.clock.advance(120_000);
  }
  const options = { owner: "task", stage: "dev", untilMs: 3_000, lookAheadMs: limits.lookAheadMs } as const;
  const tasks = [1, 2].map(() =>
    runPasses(ports, registryFor(), { ...options, onLockOutage: "postgres", signal: new AbortController().signal }),
  );
  const ended = new AbortController();
  void Promise.allSettled(tasks).then(() => ended.abort());
  while (!ended.signal.aborted) await ports.clock.advance(1_000);
}

async function work(metrics: Metrics): Promise<void> {
  const {
    enqueue,
    work,
    world: ports,
  } = await shop(
    [sweep],
    world(() => ({ metrics })),
  );
  await enqueue(sweep, undefined);
  const ended = new AbortController();
  const handled = work().finally(() => ended.abort());
  while (!ended.signal.aborted) await ports.clock.advance(100);
  await handled;
  metrics.flush();
}

let all: readonly Emitted[];
beforeAll(async () => {
  all = await emitted();
});

interface MetricStat {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: readonly { Name: string; Value: unknown }[];
}

/** The metrics that an alarm reads, from its own fields or from its expression's. */
function metricsOf(properties: Readonly<Record<string, unknown>>): readonly MetricStat[] {
  const many = properties["Metrics"] as { MetricStat?: { Metric: MetricStat } }[] | undefined;
  if (many === undefined) return [properties as unknown as MetricStat];
  return many.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat.Metric]));
}

const own = alarms.flatMap((alarm) =>
  metricsOf(alarm.Properties)
    .filter((metric) => metric.Namespace === ownNamespace)
    .map((metric) => ({ id: alarm.id, metric, name: metric.MetricName })),
);

test("the alarms look where the processes write", () => {
  expect(ownNamespace).toBe(namespace);
  expect(own.length).toBeGreaterThan(8);
});

test.each(own)("$id reads $name as the code really writes it: name, every dimension and a unit", ({ metric }) => {
  const dimensions = Object.fromEntries(metric.Dimensions.map(({ Name, Value }) => [Name, Value]));
  const matching = all.filter(({ name }) => name === metric.MetricName);
  expect(matching.map((each) => each.dimensions)).toContainEqual(dimensions);
  for (const { unit } of matching)
    expect(unit).toBe(/\.time$|lateness$/.test(metric.MetricName) ? "Milliseconds" : "Count");
});

test.each([
  ["a worker went silent", "scheduler.rescued", usualAlarms.rescues],
  ["the lock store is away", "scheduler.lock.outage", usualAlarms.lockOutages],
  ["steps of a pass fail", "scheduler.step.failed", usualAlarms.failedSteps],
])("what is written while %s is over the alarm's threshold", (_, name, threshold) => {
  expect(valueOf(all, name)).toBeGreaterThan(Number(threshold));
});

test("half of the items failing is over the alarm's threshold, by the alarm's own sum", () => {
  const percent = (100 * valueOf(all, "scheduler.items.failed")) / valueOf(all, "scheduler.items.processed");
  expect(percent).toBeGreaterThan(Number(usualAlarms.failedItemsPercent));
});

test("each alarm says where the runbook has its section, and the section is there", () => {
  const book = readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8");
  for (const { Properties } of alarms) {
    const section = /: docs\/runbook\.md#([a-z-]+)$/.exec(String(Properties["AlarmDescription"]))?.[1];
    expect(book).toContain(`\n## ${section}\n`);
  }
});

test("each alarm tells somebody, and CloudWatch may use the key of the topics", () => {
  for (const { Properties } of alarms) expect(Properties["AlarmActions"]).toHaveLength(1);
  const [key] = resources(template, "AWS::KMS::Key");
  expect(JSON.stringify(key?.Properties["KeyPolicy"])).toContain('"Service":"cloudwatch.amazonaws.com"');
});

test("a scheduler that says nothing is an alarm after two wakes", () => {
  const silent = alarms.find(({ id }) => id.includes("SchedulerSilent"));
  expect(silent?.Properties).toMatchObject({ TreatMissingData: "breaching", EvaluationPeriods: 2, Period: 60 });
});
