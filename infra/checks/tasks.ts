import type { Check, Finding } from "./check.ts";
import { at, byId, type Found, isObject, listAt, ofType, ownFunctions, referred, type Template } from "./template.ts";

const stopSeconds = { min: 30, max: 120 };
const staleSecondsMax = 300;
const retriesMax = 10;

const containers = (task: Found): readonly unknown[] => listAt(task.properties, "ContainerDefinitions");

export const taskChecks: readonly Check[] = [
  {
    id: "stop-timeout",
    rule: "a container has 30 to 120 s between SIGTERM and SIGKILL: Fargate allows no more, a job needs no less",
    find: (template) =>
      ofType(template, "AWS::ECS::TaskDefinition").flatMap((task) =>
        containers(task).flatMap((container) => {
          const seconds = Number(at(container, "StopTimeout") ?? 0);
          if (seconds >= stopSeconds.min && seconds <= stopSeconds.max) return [];
          return [{ resource: task.id, detail: `StopTimeout ${seconds}` }];
        }),
      ),
  },
  {
    id: "read-only-root",
    rule: "a container writes nothing to its root file system",
    find: (template) =>
      ofType(template, "AWS::ECS::TaskDefinition").flatMap((task) =>
        containers(task)
          .filter((container) => at(container, "ReadonlyRootFilesystem") !== true)
          .map((container) => ({ resource: task.id, detail: `container ${String(at(container, "Name"))}` })),
      ),
  },
  {
    id: "one-architecture",
    rule: "functions and tasks have one architecture, that of the image, or a task fails only when it starts",
    find: architectures,
  },
  {
    id: "rule-dead-letters",
    rule: "each target of a rule keeps what could not be delivered in a queue",
    find: (template) =>
      targets(template)
        .filter(({ target }) => at(target, "DeadLetterConfig", "Arn") === undefined)
        .map(({ rule }) => ({ resource: rule.id, detail: "a target without DeadLetterConfig" })),
  },
  {
    id: "stale-wakes",
    rule: "a scheduled wake is delivered within 5 minutes and 10 retries, or not at all: the next one does its work",
    find: (template) =>
      targets(template)
        .filter(({ rule }) => rule.properties["ScheduleExpression"] !== undefined)
        .flatMap(({ rule, target }) => {
          const age = Number(at(target, "RetryPolicy", "MaximumEventAgeInSeconds") ?? 86_400);
          const retries = Number(at(target, "RetryPolicy", "MaximumRetryAttempts") ?? 185);
          if (age <= staleSecondsMax && retries <= retriesMax) return [];
          return [{ resource: rule.id, detail: `delivered for ${age} s with ${retries} retries` }];
        }),
  },
  {
    id: "task-ends",
    rule: "where functions launch tasks, a rule of that cluster calls a function of the stack when one has stopped",
    find: (template) => {
      const isReported = ofType(template, "AWS::Events::Rule").some(reportsEnds);
      return ownFunctions(template)
        .filter(
          ({ properties }) => at(properties, "Environment", "Variables", "BELFRY_TASKS") !== undefined && !isReported,
        )
        .map(({ id }) => ({ resource: id, detail: "it launches tasks, and no function gets their ends" }));
    },
  },
  {
    id: "spare-capacity",
    rule: "a task that asks for spare capacity names no launch type, and its cluster has that capacity",
    find: (template) => {
      const offered = ofType(template, "AWS::ECS::ClusterCapacityProviderAssociations").flatMap(({ properties }) =>
        listAt(properties, "CapacityProviders"),
      );
      return targets(template).flatMap(({ rule, target }) => {
        const asked = listAt(target, "EcsParameters", "CapacityProviderStrategy");
        const missing = asked.map((each) => at(each, "CapacityProvider")).filter((name) => !offered.includes(name));
        const both = asked.length > 0 && at(target, "EcsParameters", "LaunchType") !== undefined;
        return [
          ...missing.map((name) => ({ resource: rule.id, detail: `no cluster has ${String(name)}` })),
          ...(both ? [{ resource: rule.id, detail: "LaunchType beside CapacityProviderStrategy" }] : []),
        ];
      });
    },
  },
  {
    id: "tagged-tasks",
    rule: "a task gets the tags of its definition, or the bill does not say which stage it was",
    find: (template) =>
      targets(template)
        .filter(({ target }) => at(target, "EcsParameters") !== undefined)
        .filter(({ target }) => at(target, "EcsParameters", "PropagateTags") !== "TASK_DEFINITION")
        .map(({ rule }) => ({ resource: rule.id, detail: "PropagateTags is not TASK_DEFINITION" })),
  },
  {
    id: "public-address",
    rule: "a task in a public subnet has a public address, or it cannot reach AWS",
    find: (template) =>
      targets(template).flatMap(({ rule, target }) => {
        const network = at(target, "EcsParameters", "NetworkConfiguration", "AwsVpcConfiguration");
        const isPublic = listAt(network, "Subnets").some((subnet) => isPublicSubnet(template, referred(subnet)));
        if (!isPublic || at(network, "AssignPublicIp") === "ENABLED") return [];
        return [{ resource: rule.id, detail: "AssignPublicIp is not ENABLED" }];
      }),
  },
];

function reportsEnds({ properties }: Found): boolean {
  const pattern = properties["EventPattern"];
  const isOfTasks =
    listAt(pattern, "source").includes("aws.ecs") && listAt(pattern, "detail", "clusterArn").length === 1;
  return isOfTasks && listAt(pattern, "detail", "lastStatus").includes("STOPPED") && properties["State"] === "ENABLED";
}

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const targets = (template: Template): readonly { rule: Found; target: unknown }[] =>
  ofType(template, "AWS::Events::Rule").flatMap((rule) =>
    listAt(rule.properties, "Targets").map((target) => ({ rule, target })),
  );

function architectures(template: Template): readonly Finding[] {
  const functions = ownFunctions(template).map(({ id, properties }) => ({
    resource: id,
    detail: text(listAt(properties, "Architectures")[0] ?? "x86_64"),
  }));
  const tasks = ofType(template, "AWS::ECS::TaskDefinition").map(({ id, properties }) => ({
    resource: id,
    detail: text(at(properties, "RuntimePlatform", "CpuArchitecture") ?? "X86_64").toLowerCase(),
  }));
  const [first] = functions;
  return [...functions, ...tasks].filter(({ detail }) => detail !== first?.detail);
}

/** A subnet is public by its route to an internet gateway. */
function isPublicSubnet(template: Template, id: string | null): boolean {
  if (id === null || byId(template, id) === null) return false;
  const tables = ofType(template, "AWS::EC2::SubnetRouteTableAssociation")
    .filter(({ properties }) => referred(properties["SubnetId"]) === id)
    .map(({ properties }) => referred(properties["RouteTableId"]));
  return ofType(template, "AWS::EC2::Route").some(
    ({ properties }) => isObject(properties["GatewayId"]) && tables.includes(referred(properties["RouteTableId"])),
  );
}
