import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { noAlarms, usualAlarms } from "../../infra/constructs/alarm-choices.ts";
import { ownNamespace } from "../../infra/constructs/alarm-maker.ts";
import { catalog } from "../../src/aws/telemetry/catalog.ts";
import { namespace } from "../../src/aws/telemetry/metrics.ts";
import { onDemandMinutes } from "../../src/stage/stages.ts";
import { deployments } from "../../infra/stages.ts";
import { faults, healthy, idle } from "./alarm-faults.ts";
import { AlarmWorld, watched } from "./alarm-world.ts";
import { awsFaults, awsMetrics } from "./aws-metrics.ts";
import { dimensionsOf, type Emitted, emitted, isOver, metricsOf } from "./emitted.ts";
import { resources, templateOf } from "./synthesize.ts";

/** A minute is too long for a test to keep a transaction open. */
const choices = { ...usualAlarms, oldestTransactionSeconds: 1 };
const template = templateOf(watched, {
  alarms: choices,
  scheduler: "each-minute",
  network: { kind: "small", ipv4: "instance", imageId: "ami-0123456789abcdef0" },
});
const alarms = resources(template, "AWS::CloudWatch::Alarm");
const book = readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8");

/** As the construct calls it: CloudFormation's ids have no hyphens and a hash at the end. */
const nameOf = (id: string): string => id.replace(/^BelfryAlarms/, "").replace(/[0-9A-F]{8}$/, "");

const all = alarms.map(({ id, Properties }) => ({ id: nameOf(id), Properties, metrics: metricsOf(Properties) }));
const own = all.filter(({ metrics }) => metrics.some((metric) => metric.Namespace === ownNamespace));
const reading = own.flatMap(({ id, metrics }) => metrics.map((metric) => ({ id, metric, name: metric.MetricName })));
const ofAws = all.flatMap(({ metrics }) => metrics).filter((metric) => metric.Namespace !== ownNamespace);

/** What the runbook says: the rows of its table "What rings for what". */
const promised = new Map(
  [...book.matchAll(/^\| ([^|]+?) \| ((?:`[\w-]+`(?:, )?)+) \|$/gm)].map(([, fault = "", ids = ""]) => [
    fault,
    [...ids.matchAll(/`([\w-]+)`/g)].map(([, id = ""]) => id.replaceAll("-", "")).toSorted(),
  ]),
);

/** What was written, with AWS's own metrics beside it; the API's errors are those it answered. */
const lines = new Map<string, readonly Emitted[]>();
let world: AlarmWorld;
beforeAll(async () => {
  world = await AlarmWorld.open();
  for (const [name, act] of Object.entries({ healthy, idle, ...faults })) {
    const written = await emitted(() => act(world));
    const failed = world.statuses.filter((status) => status >= 500).length;
    const over = failed === 0 ? [] : [{ metric: "Url5xxCount", of: /HttpApi/, value: failed }];
    lines.set(name, [...written, ...awsMetrics(ofAws, ...over)]);
  }
  const well = (lines.get("healthy") ?? []).filter(({ unit }) => unit !== "None");
  for (const [name, over] of Object.entries(awsFaults)) lines.set(name, [...well, ...awsMetrics(ofAws, over)]);
}, 900_000);
afterAll(() => world.close());

const ringing = (name: string): readonly string[] =>
  all
    .filter(({ Properties }) => isOver(Properties, lines.get(name) ?? []))
    .map(({ id }) => id)
    .toSorted();

test("the alarms look where the processes write", () => {
  expect(ownNamespace).toBe(namespace);
  expect(own.length).toBeGreaterThan(16);
});

test.each(reading)("$id reads $name as the code really writes it: name, every dimension and a unit", ({ metric }) => {
  const matching = [...lines.values()].flat().filter(({ name }) => name === metric.MetricName);
  expect(matching.map((each) => each.dimensions)).toContainEqual(dimensionsOf(metric));
  expect(new Set(matching.map(({ unit }) => unit))).toEqual(new Set([unitOf(metric.MetricName)]));
});

const unitOf = (name: string): string => {
  if (name === "database.dead_rows" || name.startsWith("worst.")) return "Percent";
  return /\.time$|lateness$|transaction$|behind$|lag$/.test(name) ? "Milliseconds" : "Count";
};

test.each(["healthy", "idle"])("a system that is %s rings no alarm", (name) => {
  expect(ringing(name)).toEqual([]);
});

const named = [...Object.keys(faults), ...Object.keys(awsFaults)];

test("the runbook says what rings for each of at least 25 faults, and for no other", () => {
  expect(named.length).toBeGreaterThanOrEqual(25);
  expect([...promised.keys()].toSorted()).toEqual(named.toSorted());
});

test.each(named)("%s: exactly the alarms that the runbook names ring", (name) => {
  expect(ringing(name)).toEqual(promised.get(name));
});

test("every alarm rings for one of the faults", () => {
  const rung = new Set(named.flatMap(ringing));
  // One of each sort is enough: a lane and a function are like the next.
  const sort = (id: string): string =>
    id.replace(/^(DeadLetters|OldestMessage|FunctionErrors|Throttles|NearTimeout).*/, "$1");
  const sorts = new Set([...rung].map(sort));
  expect([...new Set(all.map(({ id }) => sort(id)))].filter((id) => !sorts.has(id))).toEqual([]);
});

test("what is written is in the catalog, and no metric has more dimensions than that", () => {
  for (const { name, dimensions } of [...lines.values()].flat().filter(({ unit }) => unit !== "None")) {
    const by = Object.keys(dimensions).filter((key) => !["service", "stage"].includes(key));
    expect(`${name} ${by.join()}`).toMatch(new RegExp(`^${name} (${catalog[name]?.by ?? ""})?$`));
    expect(dimensions).toMatchObject({ service: `belfry-${watched.stage}`, stage: watched.stage });
  }
});

test("a stage may choose none for every alarm, and is then without any", () => {
  expect(resources(templateOf(watched, { alarms: noAlarms }), "AWS::CloudWatch::Alarm")).toEqual([]);
});

const sections = [...book.matchAll(/^## ([a-z-]+)$/gm)].map(([, section]) => section);

test("each alarm says where the runbook has its section, and the section is there", () => {
  for (const { Properties } of alarms) {
    const section = /: docs\/runbook\.md#([a-z-]+)$/.exec(String(Properties["AlarmDescription"]))?.[1];
    expect(sections).toContain(section);
  }
});

test("each alarm goes to one topic, and who was paged hears when it is over", () => {
  for (const { Properties } of alarms) {
    expect(Properties["AlarmActions"]).toHaveLength(1);
    const [topic] = Properties["AlarmActions"] as { Ref: string }[];
    expect(Properties["OKActions"]).toEqual(/Page/.test(JSON.stringify(topic)) ? [topic] : undefined);
  }
});

test("only alarms and the database of this account may publish to the topics", () => {
  const policies = resources(template, "AWS::SNS::TopicPolicy").map(({ Properties }) => Properties["PolicyDocument"]);
  const publishing = policies.flatMap((policy) => {
    const { Statement } = policy as {
      Statement: { Principal?: { Service?: string | string[] }; Condition?: unknown }[];
    };
    return Statement.filter(({ Principal }) => Principal?.Service !== undefined);
  });
  const own = { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } };
  expect(publishing.map(({ Condition }) => Condition)).toEqual([own, own]);
  expect(publishing.map(({ Principal }) => [Principal?.Service].flat())).toEqual([
    ["cloudwatch.amazonaws.com"],
    ["cloudwatch.amazonaws.com", "events.rds.amazonaws.com"],
  ]);
});

test("a scheduler that says nothing is an alarm after three wakes, after two more than the passes on demand are apart on spare capacity", () => {
  const silent = alarms.find(({ id }) => id.includes("SchedulerSilent"));
  expect(silent?.Properties).toMatchObject({ TreatMissingData: "breaching", EvaluationPeriods: 3, Period: 60 });
  for (const { spotPasses, scheduler = "each-minute", alarms: chosen } of Object.values(deployments)) {
    expect(chosen.schedulerSilentWakes).toBe(spotPasses === true ? onDemandMinutes[scheduler] + 2 : 3);
  }
});
