import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { noAlarms, usualAlarms } from "../../infra/constructs/alarm-choices.ts";
import { ownNamespace } from "../../infra/constructs/alarms.ts";
import { catalog } from "../../src/adapters/telemetry/catalog.ts";
import { namespace } from "../../src/adapters/telemetry/metrics.ts";
import { faults, healthy, watched } from "./alarm-world.ts";
import { type AlarmMetric, dimensionsOf, type Emitted, isOver } from "./emitted.ts";
import { resources, templateOf } from "./synthesize.ts";

const template = templateOf(watched, { alarms: usualAlarms });
const alarms = resources(template, "AWS::CloudWatch::Alarm");

/** The metrics that an alarm reads, from its own fields or from its expression's. */
function metricsOf(properties: Readonly<Record<string, unknown>>): readonly AlarmMetric[] {
  const many = properties["Metrics"] as { MetricStat?: { Metric: AlarmMetric } }[] | undefined;
  if (many === undefined) return [properties as unknown as AlarmMetric];
  return many.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat.Metric]));
}

const own = alarms
  .map(({ id, Properties }) => ({ id, Properties, metrics: metricsOf(Properties) }))
  .filter(({ metrics }) => metrics.some((metric) => metric.Namespace === ownNamespace));
const reading = own.flatMap(({ id, metrics }) => metrics.map((metric) => ({ id, metric, name: metric.MetricName })));

let well: readonly Emitted[];
const ill = new Map<string, readonly Emitted[]>();
beforeAll(async () => {
  well = await healthy();
  for (const [name, act] of Object.entries(faults)) ill.set(name, await act());
});

test("the alarms look where the processes write", () => {
  expect(ownNamespace).toBe(namespace);
  expect(own.length).toBeGreaterThan(16);
});

test.each(reading)("$id reads $name as the code really writes it: name, every dimension and a unit", ({ metric }) => {
  const matching = [well, ...ill.values()].flat().filter(({ name }) => name === metric.MetricName);
  expect(matching.map((each) => each.dimensions)).toContainEqual(dimensionsOf(metric));
  expect(new Set(matching.map(({ unit }) => unit))).toEqual(new Set([unitOf(metric.MetricName)]));
});

const unitOf = (name: string): string => {
  if (name === "database.dead_rows") return "Percent";
  return /\.time$|lateness$|transaction$|behind$/.test(name) ? "Milliseconds" : "Count";
};

describe.each(own)("$id", ({ Properties }) => {
  test("is silent over what a healthy system writes", () => {
    expect(isOver(Properties, well)).toBe(false);
  });

  test("goes off over what is written while its fault lasts", () => {
    const goingOff = [...ill].filter(([, lines]) => isOver(Properties, lines)).map(([name]) => name);
    expect(goingOff).not.toEqual([]);
    // Nothing written is the silent scheduler's fault, and no other alarm's.
    expect(goingOff.includes("no task runs")).toBe(Properties["TreatMissingData"] === "breaching");
  });
});

test("each fault makes an alarm of its own go off", () => {
  for (const [name, lines] of ill) {
    const ids = own.filter(({ Properties }) => isOver(Properties, lines)).map(({ id }) => id);
    expect(`${name}: ${ids.join(" ")}`).toMatch(/: .+/);
  }
});

test("what is written is in the catalog, and nothing is told apart by more than that", () => {
  for (const { name, dimensions } of [well, ...ill.values()].flat()) {
    const by = Object.keys(dimensions).filter((key) => !["service", "stage", "lane"].includes(key));
    expect(`${name} ${by.join()}`).toMatch(new RegExp(`^${name} (${catalog[name]?.by ?? ""})?$`));
  }
});

test("a stage may choose none for every alarm, and is then without any", () => {
  expect(resources(templateOf(watched, { alarms: noAlarms }), "AWS::CloudWatch::Alarm")).toEqual([]);
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

test("only alarms of this account may publish to the topics", () => {
  const policies = resources(template, "AWS::SNS::TopicPolicy").map(({ Properties }) => Properties["PolicyDocument"]);
  const publishing = policies.flatMap((policy) => {
    const { Statement } = policy as { Statement: { Principal?: { Service?: string }; Condition?: unknown }[] };
    return Statement.filter(({ Principal }) => Principal?.Service === "cloudwatch.amazonaws.com");
  });
  const own = { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } };
  expect(publishing.map(({ Condition }) => Condition)).toEqual([own, own]);
});

test("a scheduler that says nothing is an alarm after two wakes", () => {
  const silent = alarms.find(({ id }) => id.includes("SchedulerSilent"));
  expect(silent?.Properties).toMatchObject({ TreatMissingData: "breaching", EvaluationPeriods: 2, Period: 60 });
});
