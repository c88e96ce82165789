import { expect, test } from "vitest";
import { fakes as targets } from "../../examples/fakes.ts";
import { checks } from "../../infra/checks/index.ts";
import { at, listAt, ofType, type Template } from "../../infra/checks/template.ts";
import { loadApps, stages } from "../support/own-project.ts";
import { topology } from "../../src/stage/topology.ts";
import { image, templateOf } from "./synthesize.ts";

const all = topology(await loadApps(stages.smoke), stages.smoke);
const template = templateOf(all, {}, { targets, image, command: "judge" }).toJSON() as Template;

const resource = (type: string, id: RegExp) => {
  const [found, ...others] = ofType(template, type).filter((each) => id.test(each.id));
  if (found === undefined || others.length > 0) throw new Error(`not exactly one ${type} like ${id}`);
  return found;
};
const container = (id: RegExp) =>
  listAt(resource("AWS::ECS::TaskDefinition", id).properties, "ContainerDefinitions")[0] ?? {};
const variables = (id: RegExp): Readonly<Record<string, unknown>> =>
  Object.fromEntries(listAt(container(id), "Environment").map((each) => [at(each, "Name"), at(each, "Value")]));
const ports = JSON.parse(String(variables(/FakesTask/)["FAKE_PORTS"])) as Record<string, number>;
const addresses = Object.fromEntries(
  targets.flatMap(({ name, address }) =>
    address === undefined
      ? []
      : [[address.variable, `${address.scheme}://targets.smoke.belfry.internal:${ports[name]}`]],
  ),
);

test("a stage with the examples breaks none of our rules", () => {
  expect(checks.flatMap(({ id, find }) => find(template).map((finding) => ({ id, ...finding })))).toEqual([]);
});

test("all handlers know where their targets listen: each on a port of its own, at the name of their one task", () => {
  expect(Object.keys(addresses)).toHaveLength(6);
  expect(new Set(Object.values(ports)).size).toBe(6);
  for (const lane of all.lanes) {
    const worker = resource("AWS::Lambda::Function", new RegExp(`Lane${lane.name}Worker`));
    expect(at(worker.properties, "Environment", "Variables")).toMatchObject(addresses);
  }
  expect(variables(/SchedulerTask/)).toMatchObject(addresses);
  expect(resource("AWS::ServiceDiscovery::Service", /Fakes/).properties).toMatchObject({
    Name: "targets",
    DnsConfig: { DnsRecords: [{ Type: "A" }] },
  });
  expect(resource("AWS::ServiceDiscovery::PrivateDnsNamespace", /Fakes/).properties["Name"]).toBe(
    "smoke.belfry.internal",
  );
});

test("there is one such task and never two, because a second one would have ledgers of its own", () => {
  expect(resource("AWS::ECS::Service", /Fakes/).properties).toMatchObject({
    DesiredCount: 1,
    DeploymentConfiguration: { MinimumHealthyPercent: 0, MaximumPercent: 100 },
  });
});

test("only our own processes reach it, and only where its targets listen", () => {
  const group = resource("AWS::EC2::SecurityGroup", /FakesDoors/);
  expect(group.properties["SecurityGroupIngress"]).toBeUndefined();
  const doors = ofType(template, "AWS::EC2::SecurityGroupIngress").filter(
    ({ properties }) => listAt(properties, "GroupId", "Fn::GetAtt")[0] === group.id,
  );
  expect(doors).toHaveLength(Object.keys(ports).length);
  expect(new Set(doors.map(({ properties }) => properties["FromPort"]))).toEqual(new Set(Object.values(ports)));
  for (const { properties } of doors) {
    expect(properties["ToPort"]).toBe(properties["FromPort"]);
    expect(String(listAt(properties, "SourceSecurityGroupId", "Fn::GetAtt")[0])).toMatch(/DatabaseClients/);
  }
});

test("its root is read-only, what it writes is on a volume, and nothing is woken before it is ready", () => {
  expect(container(/FakesTask/)).toMatchObject({
    Command: ["judge"],
    ReadonlyRootFilesystem: true,
    MountPoints: [{ ContainerPath: "/state", ReadOnly: false, SourceVolume: "state" }],
    HealthCheck: { Command: ["CMD-SHELL", "test -e /state/ready"] },
  });
  const { id } = resource("AWS::ECS::Service", /Fakes/);
  const rules = ofType(template, "AWS::Events::Rule");
  expect(rules).not.toEqual([]);
  expect(rules.filter(({ dependsOn }) => !dependsOn.includes(id))).toEqual([]);
});

test("its role may connect and call the API, where its judge's people ask; nothing else", () => {
  const { properties } = resource("AWS::IAM::Policy", /FakesTaskRole/);
  const statements = listAt(properties, "PolicyDocument", "Statement");
  const wanted = ["lambda:InvokeFunction", "lambda:InvokeFunctionUrl", "rds-db:connect"];
  expect(new Set(statements.flatMap((statement) => at(statement, "Action")))).toEqual(new Set(wanted));
  expect(statements.map((statement) => at(statement, "Resource"))).not.toContain("*");
});
