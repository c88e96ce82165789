import { expect, test } from "vitest";
import { checkApps, notesOf } from "../../src/core/define/check.ts";
import type { Context } from "../../src/core/define/context.ts";
import { defineApp } from "../../src/core/define/define-app.ts";
import { defineFanOut } from "../../src/core/define/define-fan-out.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { aws, defineSchedule } from "../../src/core/define/define-schedule.ts";
import { describe as line } from "../../src/core/define/problem.ts";
import { stages } from "../support/own-project.ts";
import { topology } from "../../src/topology.ts";
import { templateOf } from "../infra/synthesize.ts";
import { midnight, minute, stage } from "./stage.ts";

const work = defineJob({ id: "work", run: () => {} });
const appOf = (over: object) =>
  defineApp({ name: "a", schedules: [defineSchedule({ id: "s", every: "5m", run: work, ...over } as never)] });
const specOf = (name: string, over: object) => appOf(over).schedules[0]?.spec(name, "a");

test("a schedule is on or off, fast or slow, and launched by stage", () => {
  const over = {
    every: { default: "5m", prod: "1m" },
    enabled: { prod: true, dev: true },
    launch: { default: "rule", demo: "tick" },
  };
  const seen = ["dev", "demo", "prod"].map((name) => specOf(name, over));
  expect(seen.map((spec) => [spec?.enabled, spec?.expression, spec?.launch])).toEqual([
    [true, { form: "every", everyMs: 5 * minute }, "rule"],
    [false, { form: "every", everyMs: 5 * minute }, "tick"],
    [true, { form: "every", everyMs: minute }, "rule"],
  ]);
});

test.each([
  ["dev", [10, 10]],
  ["prod", [100, 100, 100]],
])("in %s the batches have this stage's size and number", async (name, expected) => {
  const sizes: number[] = [];
  const run = (_: unknown, ctx: Context) =>
    ctx.batches({ size: { default: 100, dev: 10 }, maxIterations: { default: 3, dev: 2 } }, async (size) => {
      sizes.push(size);
      return { processed: size, succeeded: size, failed: 0, hasMore: true };
    });
  await runOnce(name, run);
  expect(sizes).toEqual(expected);
});

test("a rule of its own: the topology has its wake, the template its rule, and a stage it is off in neither", () => {
  const app = appOf({ launch: "rule", enabled: { dev: true } });
  const all = topology([app], stages.dev);
  expect(all.scheduleWakes).toEqual([
    {
      schedule: "s",
      lane: "default",
      expression: "cron(0,5,10,15,20,25,30,35,40,45,50,55 * * * ? *)",
      maximumEventAgeSeconds: 120,
      retryAttempts: 2,
    },
  ]);
  expect(topology([app], stages.prod).scheduleWakes).toEqual([]);
  const plain = topology([appOf({})], stages.dev);
  expect(all.database.connectionsMax - plain.database.connectionsMax).toBe(all.database.poolPerSchedulerTask);
  const environment = [{ name: "BELFRY_LANE", value: "default" }];
  const override = { name: "Pass", command: ["run-schedule", "s"], environment };
  templateOf(all).hasResourceProperties("AWS::Events::Rule", {
    ScheduleExpression: "cron(0,5,10,15,20,25,30,35,40,45,50,55 * * * ? *)",
    Targets: [{ Input: JSON.stringify({ containerOverrides: [override] }) }],
  });
});

test("check refuses a rule that would have to wake faster than rules can, in the stages that want one", () => {
  const fast = appOf({ every: { default: "1m", dev: "15s" }, launch: "rule" });
  expect(checkApps([fast], "dev").map(line)).toEqual([
    'schedule "s": every "15000ms" a rule wakes at most once a minute; make it at least 1m in stage "dev", or use launch: { "dev": "tick" }',
  ]);
  expect(checkApps([fast], "prod")).toEqual([]);
  expect(checkApps([appOf({ launch: { prdo: "rule" } })], "prod", ["prod"]).map(line)[0]).toContain("launch.prdo");
  expect(checkApps([appOf({ launch: "lambda" })], "prod").map(line)[0]).toContain('launch "lambda" is not one of');
});

test("check refuses a rule for what is to be written ahead: its task starts at the nominal time", () => {
  const ahead = defineFanOut({
    id: "ahead",
    materializeBefore: "10m",
    from: async function* () {},
    key: () => "k",
    each: work,
    payload: () => undefined,
  });
  expect(checkApps([appOf({ run: ahead, launch: { default: "tick", prod: "rule" } })], "prod").map(line)).toEqual([
    'schedule "s": launch "rule" starts a task at the nominal time, and "ahead" is to be written 10m before it; use launch: { "prod": "tick" }',
  ]);
  expect(checkApps([appOf({ run: ahead, launch: { default: "tick", prod: "rule" } })], "dev")).toEqual([]);
});

test("AWS's own expressions are accepted, and what is wrong with one is said", () => {
  const weekdays = { every: undefined, cron: aws("cron(0 8 ? * MON-FRI *)"), timezone: "Asia/Seoul" };
  expect(specOf("dev", weekdays)?.expression).toEqual({ form: "cron", cron: "cron(0 8 ? * MON-FRI *)" });
  expect(specOf("dev", { every: aws("rate(5 minutes)") })?.expression).toEqual({ form: "every", everyMs: 5 * minute });
  const once = { every: undefined, at: aws("at(2026-12-31T23:59:00)") };
  expect(specOf("dev", once)?.expression).toEqual({ form: "at", at: Date.UTC(2026, 11, 31, 23, 59) });
  const wrong = [
    { every: aws("rate(5 minute)") },
    { ...once, at: aws("at(2026-02-30T00:00:00)") },
    { ...weekdays, cron: aws("cron(0 8 * * MON-FRI *)") },
  ];
  expect(wrong.flatMap((over) => checkApps([appOf(over)], "dev").map(line))).toEqual([
    'schedule "s": every "rate(5 minute)" unit "minute": write rate(5 minutes)',
    'schedule "s": at "at(2026-02-30T00:00:00)" there is no such date or time',
    expect.stringContaining("exactly one of the two is `?`"),
  ]);
});

test("an expression that may surprise has a note", () => {
  const both = appOf({ every: undefined, cron: "0 0 1 * MON", timezone: "UTC" });
  expect(notesOf([both])).toEqual([expect.stringMatching(/^schedule "s": /)]);
  expect(notesOf([appOf({})])).toEqual([]);
});

/** Runs one job through a worker of that stage. */
async function runOnce(name: string, run: (payload: unknown, ctx: Context) => Promise<unknown>): Promise<void> {
  const { createWorker } = await import("../../src/core/work/worker.ts");
  const { encodeMessage } = await import("../../src/core/delivery/message.ts");
  const { registry } = await import("../../src/core/define/definition.ts");
  const { createMemoryLockStore } = await import("../../src/testing/memory-lock-store.ts");
  const job = defineJob({ id: "batched", run: async (p: unknown, ctx) => void (await run(p, ctx)) });
  const at = await stage([defineSchedule({ id: "s", cron: "* * * * *", timezone: "UTC", run: job })], midnight);
  await at.tick();
  await at.advance(minute);
  const [message] = at.sent;
  if (message === undefined) throw new Error("nothing was dispatched");
  const clock = { elapsedMs: () => at.now(), sleep: () => Promise.resolve(), after: () => () => undefined };
  const definitions = registry([defineApp({ name: "t", jobs: [job] })]);
  const worker = createWorker({ ...at.ports, locks: createMemoryLockStore(), clock }, definitions, {
    worker: "w",
    lane: "default",
    stage: name,
  });
  await worker.handle([{ messageId: "m", body: encodeMessage(message) }], { remainingMs: () => 60_000 });
}
