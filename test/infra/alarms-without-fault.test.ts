/** What is no fault rings nothing, or pages no one, and the fault beside it does: on the templates of both ways to run passes. */
import { expect, test } from "vitest";
import type { Template } from "aws-cdk-lib/assertions";
import { topology } from "../../src/stage/topology.ts";
import { stages } from "../support/own-project.ts";
import { awsMetrics } from "./aws-metrics.ts";
import { isOver, metricsOf } from "./emitted.ts";
import { resources, templateOf } from "./synthesize.ts";

const small = templateOf(topology([], stages.small));
const prod = templateOf(topology([], stages.prod));
const dev = templateOf(topology([], stages.dev));
const each = templateOf(topology([], stages.prod), { scheduler: "each-minute" });

const nameOf = (id: string): string => id.replace(/^BelfryAlarms/, "").replace(/[0-9A-F]{8}$/, "");
const alarmsOf = (template: Template) => resources(template, "AWS::CloudWatch::Alarm");
const isOfAws = (properties: Readonly<Record<string, unknown>>): boolean =>
  metricsOf(properties).every(({ Namespace }) => Namespace !== "Belfry");

/** @returns the alarms on AWS's own metrics that go off, those that page with a mark. */
function ringing(template: Template, ...over: Parameters<typeof awsMetrics>[1][]): readonly string[] {
  const alarms = alarmsOf(template).filter(({ Properties }) => isOfAws(Properties));
  const read = alarms.flatMap(({ Properties }) => metricsOf(Properties));
  const written = awsMetrics(read, ...over);
  return alarms
    .filter(({ Properties }) => isOver(Properties, written))
    .map(
      ({ id, Properties }) =>
        `${nameOf(id)}${JSON.stringify(Properties["AlarmActions"]).includes("Page") ? " pages" : ""}`,
    )
    .toSorted();
}

/** In 5 minutes. */
const refusedWakes = (value: number) => [
  { metric: "NumberOfMessagesSent", of: /LostWakes/, value },
  { metric: "FailedInvocations", of: /Wakepass/, value },
];

test("on spare capacity single refused wakes ring nothing, four of five warn, and on demand each does", () => {
  const both = ["FailedInvocationsWakepass", "LostWakes"];
  expect(ringing(dev)).toEqual([]);
  expect(ringing(dev, ...refusedWakes(1))).toEqual([]);
  expect(ringing(dev, ...refusedWakes(4))).toEqual(both);
  expect(ringing(each, ...refusedWakes(1))).toEqual(both);
});

test("a wake that was lost yesterday and is kept to be read rings nothing", () => {
  for (const template of [small, each]) {
    const read = alarmsOf(template).flatMap(({ Properties }) => metricsOf(Properties));
    const kept = read.filter(
      ({ MetricName, Dimensions }) => /Visible/.test(MetricName) && JSON.stringify(Dimensions).includes("LostWakes"),
    );
    expect(kept).toEqual([]);
  }
});

const freeBytes = (value: number) => ({ metric: "FreeStorageSpace", of: /Database/, value });

test.each([
  ["small", small, 20],
  ["prod", prod, 50],
])("a disk of %s that RDS is about to grow pages no one; one that it did not grow does", (_, template, storageGb) => {
  const share = (percent: number): number => (storageGb * 1_073_741_824 * percent) / 100;
  expect(ringing(template, freeBytes(share(21)))).toEqual([]);
  for (const percent of [19, 9.5, 7.1]) {
    expect(ringing(template, freeBytes(share(percent)))).toEqual(["DatabaseStorage"]);
  }
  expect(ringing(template, freeBytes(share(6.9)))).toEqual(["DatabaseStorage", "DatabaseStorageFull pages"]);
});

test("a disk that may not grow pages while there is time", () => {
  const settings = { instanceClass: "db.t4g.small", storageGb: 100, maxStorageGb: 100, multiAz: false } as const;
  const database = { kind: "instance", ...settings, backupDays: 7, onDelete: "keep" } as const;
  expect(ringing(templateOf(topology([], stages.small), { database }), freeBytes(15e9))).toEqual([
    "DatabaseStorage pages",
  ]);
});

interface Target {
  readonly EcsParameters?: { readonly LaunchType?: string };
}

/** Minutes between the passes that still come when there is no spare capacity; null: none does. */
function minutesOnDemand(template: Template): number | null {
  const minutes = resources(template, "AWS::Events::Rule").flatMap(({ Properties }) => {
    const onDemand = (Properties["Targets"] as Target[]).some(
      ({ EcsParameters }) => EcsParameters?.LaunchType === "FARGATE",
    );
    const rate = /^rate\((\d+) minutes?\)$/.exec(String(Properties["ScheduleExpression"]))?.[1];
    return onDemand && rate !== undefined ? [Number(rate)] : [];
  });
  return minutes.length === 0 ? null : Math.min(...minutes);
}

/** Whether so many minutes in a row are without a finished pass. */
function isSilent(template: Template, finished: (minute: number) => boolean): boolean {
  const silent = alarmsOf(template).find(({ id }) => id.includes("SchedulerSilent"));
  const periods = Number(silent?.Properties["EvaluationPeriods"]);
  const minutes = Array.from({ length: 120 }, (_, minute) => minute);
  return minutes.some((from) => from + periods <= 120 && !minutes.slice(from, from + periods).some(finished));
}

test.each([
  ["dev", dev, each],
  ["small", small, prod],
])(
  "the scheduler of %s without spare capacity for two hours goes on and pages no one; one that makes no pass does",
  (_, spare, onDemand) => {
    const minutes = minutesOnDemand(spare) ?? 1_000;
    // A start takes 15 to 60 s, so that each pass may end in the next minute.
    const late = (minute: number): number => (Math.floor(minute / minutes) % 2 === 0 ? 0 : 1);
    expect(isSilent(spare, (minute) => minute % minutes === late(minute))).toBe(false);
    for (const template of [spare, onDemand]) expect(isSilent(template, (minute) => minute < 60)).toBe(true);
    expect(isSilent(onDemand, () => true)).toBe(false);
  },
);
