/** Two teams in one account and region, each with a stage of the same name, as every new project has. */
import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { Belfry } from "../../infra/constructs/belfry.ts";
import type { BelfryProps } from "../../infra/constructs/belfry-props.ts";
import { topology } from "../../src/stage/topology.ts";
import { loadApps, stages } from "../support/own-project.ts";
import { code, image, newApp } from "./synthesize.ts";

const stage = { ...stages.prod, archive: { format: "ndjson", bucket: "archive-of-all" } } as const;
const release = { topology: topology(await loadApps(stage), stage), code, image };
const byReference = { network: { kind: "by-parameters" }, database: { kind: "existing" } } as const;

function synthesized(name: string, props: Partial<BelfryProps>): Template {
  const stack = new Stack(newApp(), name, { env: { account: "123456789012", region: "eu-west-1" } });
  const network = { kind: "small", ipv4: "none", zones: ["eu-west-1a", "eu-west-1b"] } as const;
  new Belfry(stack, "Belfry", { stage: stage.name, release, network, subscribers: ["ops@example.com"], ...props });
  return Template.fromStack(stack);
}

/** Every object within, at any depth. */
function objectsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (typeof value !== "object" || value === null) return [];
  const below = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? below : [value as Readonly<Record<string, unknown>>, ...below];
}

/** What the alarms and the dashboard read of our own metrics. */
function seriesOf(template: Template): readonly string[] {
  const alarms = Object.values(template.findResources("AWS::CloudWatch::Alarm"));
  const own = objectsIn(alarms).filter(({ Namespace }) => Namespace === "Belfry");
  const shown = JSON.stringify(template.findResources("AWS::CloudWatch::Dashboard")).replaceAll("\\", "");
  return [
    ...own.map(({ MetricName, Dimensions }) => JSON.stringify([MetricName, Dimensions])),
    ...[...shown.matchAll(/\["Belfry",[^\]]*?(?=,\{|\])/g)].map(([series]) => series),
  ];
}

const parametersOf = (template: Template): readonly string[] =>
  Object.values(template.findParameters("*"))
    .map(({ Default }) => String(Default))
    .filter((path) => path.startsWith("/belfry/"));

/** Names that CloudFormation does not make itself, and places below a name of others. */
const naming =
  /^(Name|Family|LogGroupName|Id|.*(Queue|Function|Table|Bucket|Role|Alarm|Topic|Cluster|Rule|Dashboard)Name)$/;
function namesOf(template: Template): readonly string[] {
  const { Resources } = template.toJSON() as { Resources: Record<string, { Type: string; Properties?: object }> };
  return Object.values(Resources).flatMap(({ Type, Properties = {} }) =>
    Object.entries(Properties).flatMap(([field, value]) =>
      Type !== "AWS::RDS::DBParameterGroup" && naming.test(field) && typeof value === "string"
        ? [`${Type} ${value}`]
        : [],
    ),
  );
}

const objectsWritten = (template: Template): readonly string[] =>
  JSON.stringify(template.toJSON()).match(/archive-of-all[^"]*\/\*/g) ?? [];

const variables = (template: Template, name: string): readonly unknown[] => {
  const { Resources } = template.toJSON() as { Resources: object };
  const functions = objectsIn(Resources).flatMap((each) => (name in each ? [each[name]] : []));
  const tasks = objectsIn(Resources).filter((each) => each["Name"] === name);
  return [...functions, ...tasks.map(({ Value }) => Value)];
};

const [first, second] = ["app-prod", "other-prod"] as const;

test.each([
  ["whose database and network are made for them", {}],
  ["whose database and network are found by parameters", byReference],
])("two systems %s share no metric, no parameter, no name and no place", (_, props) => {
  const [one, other] = [synthesized(first, props), synthesized(second, props)];
  for (const kept of [seriesOf, parametersOf, namesOf, objectsWritten]) {
    const taken = new Set(kept(one));
    expect(kept(other).filter((each) => taken.has(each))).toEqual([]);
  }
  expect(seriesOf(one).length).toBeGreaterThan(30);
  expect(objectsWritten(one)).toHaveLength(1);
  const named = ["client-security-group", "database-secret-arn", "database-url", "subnet-a", "subnet-b"];
  const isFound = "network" in props;
  expect(parametersOf(one).toSorted()).toEqual(isFound ? named.map((name) => `/belfry/${first}/prod/${name}`) : []);
  // In a team's own subnets the scheduler's task gets no address.
  const addresses = JSON.stringify(one.toJSON()).match(/"AssignPublicIp":"\w+"/g);
  expect(addresses).toEqual([`"AssignPublicIp":"${isFound ? "DISABLED" : "ENABLED"}"`]);
});

test("every process writes its metrics under the name that the alarms read", () => {
  const template = synthesized(first, {});
  const names = variables(template, "BELFRY_SYSTEM");
  expect(names).toHaveLength(variables(template, "BELFRY_STAGE").length);
  expect(names.length).toBeGreaterThan(4);
  expect(new Set(names)).toEqual(new Set([first]));
  for (const series of seriesOf(template)) expect(series).toContain(first);
  const named = synthesized(first, { system: "shop" });
  expect(new Set(variables(named, "BELFRY_SYSTEM"))).toEqual(new Set(["shop"]));
  for (const series of seriesOf(named)) expect(series).toContain("shop");
});

test("a second Belfry of one stage in one stack is refused, unless it is a system of its own", () => {
  const stack = new Stack(newApp(), "team");
  const add = (id: string, system?: string) => (): unknown =>
    new Belfry(stack, id, { stage: stage.name, release, ...(system === undefined ? {} : { system }) });
  add("One")();
  expect(add("Two")).toThrow('team/One and team/Two are both stage "prod" of system "team"');
  expect(add("Three", "three")).not.toThrow();
  expect(add("Four", "a/b")).toThrow('system "a/b" must be letters, digits and hyphens');
});

test("one system name in two accounts is one system in each", () => {
  const app = newApp();
  for (const account of ["123456789012", "210987654321"]) {
    const stack = new Stack(app, `jobs-${account}`, { stackName: "jobs", env: { account, region: "eu-west-1" } });
    const network = { kind: "small", ipv4: "none", zones: ["eu-west-1a", "eu-west-1b"] } as const;
    expect(() => new Belfry(stack, "Belfry", { stage: stage.name, release, network })).not.toThrow();
  }
});
