import { expect, test } from "vitest";
import { checkApps } from "../../src/define/check.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineFanOut } from "../../src/define/define-fan-out.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { aws, defineSchedule } from "../../src/define/define-schedule.ts";
import { describe as line } from "../../src/define/problem.ts";
import { stages } from "../support/own-project.ts";
import { topology } from "../../src/stage/topology.ts";
import { templateOf } from "../infra/synthesize.ts";
import { minute } from "./stage.ts";

const work = defineJob({ id: "work", run: () => {} });
const appOf = (over: object) =>
  defineApp({ name: "a", schedules: [defineSchedule({ id: "s", every: "5m", run: work, ...over } as never)] });
const specOf = (name: string, over: object) => appOf(over).schedules[0]?.spec(name, "a");

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
