import { type Check, type Finding, ofEach } from "./check.ts";
import {
  at,
  byId,
  type NamedResource,
  isObject,
  listAt,
  ofType,
  ownFunctions,
  referenceOf,
  type Template,
} from "./template.ts";

const stopSeconds = { min: 30, max: 120 };
const staleSecondsMax = 300;
const retriesMax = 10;

const containers = (task: NamedResource): readonly unknown[] => listAt(task.properties, "ContainerDefinitions");

export const taskChecks: readonly Check[] = [
  {
    id: "stop-timeout",
    rule: "a container has 30 to 120 s between SIGTERM and SIGKILL: Fargate allows no more, a job needs no less",
    find: ofEach("AWS::ECS::TaskDefinition", (task) =>
      containers(task)
        .map((container) => Number(at(container, "StopTimeout") ?? 0))
        .filter((seconds) => !(seconds >= stopSeconds.min && seconds <= stopSeconds.max))
        .map((seconds) => `StopTimeout ${seconds}`),
    ),
  },
  {
    id: "read-only-root",
    rule: "a container writes nothing to its root file system",
    find: ofEach("AWS::ECS::TaskDefinition", (task) =>
      containers(task)
        .filter((container) => at(container, "ReadonlyRootFilesystem") !== true)
        .map((container) => `container ${String(at(container, "Name"))}`),
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
      return starters(template).flatMap(({ id, strategy, launchType }) => {
        const missing = strategy.map((each) => at(each, "CapacityProvider")).filter((name) => !offered.includes(name));
        const both = strategy.length > 0 && launchType !== undefined;
        return [
          ...missing.map((name) => ({ resource: id, detail: `no cluster has ${String(name)}` })),
          ...(both ? [{ resource: id, detail: "LaunchType beside CapacityProviderStrategy" }] : []),
        ];
      });
    },
  },
  {
    id: "tagged-tasks",
    rule: "a task gets the tags of its definition, or the bill does not say which stage it was",
    find: (template) =>
      starters(template)
        .filter(({ tags }) => tags !== "TASK_DEFINITION")
        .map(({ id }) => ({ resource: id, detail: "PropagateTags is not TASK_DEFINITION" })),
  },
  {
    id: "public-address",
    rule: "a task in a public subnet has a public address, or it cannot reach AWS",
    find: (template) =>
      starters(template).flatMap(({ id, network }) => {
        const isPublic = listAt(network, "Subnets").some((subnet) => isPublicSubnet(template, referenceOf(subnet)));
        if (!isPublic || at(network, "AssignPublicIp") === "ENABLED") return [];
        return [{ resource: id, detail: "AssignPublicIp is not ENABLED" }];
      }),
  },
  {
    id: "service-start",
    rule: "a service whose task cannot start fails its deployment: without a circuit breaker CloudFormation waits for hours",
    find: ofEach("AWS::ECS::Service", ({ properties }) => {
      const breaker = at(properties, "DeploymentConfiguration", "DeploymentCircuitBreaker");
      const rollsBack = at(breaker, "Enable") === true && at(breaker, "Rollback") === true;
      return rollsBack ? null : "no DeploymentCircuitBreaker that rolls back";
    }),
  },
];

function reportsEnds({ properties }: NamedResource): boolean {
  const pattern = properties["EventPattern"];
  const isOfTasks =
    listAt(pattern, "source").includes("aws.ecs") && listAt(pattern, "detail", "clusterArn").length === 1;
  return isOfTasks && listAt(pattern, "detail", "lastStatus").includes("STOPPED") && properties["State"] === "ENABLED";
}

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const targets = (template: Template): readonly { rule: NamedResource; target: unknown }[] =>
  ofType(template, "AWS::Events::Rule").flatMap((rule) =>
    listAt(rule.properties, "Targets").map((target) => ({ rule, target })),
  );

interface Starter {
  readonly id: string;
  readonly network: unknown;
  readonly strategy: readonly unknown[];
  readonly launchType: unknown;
  readonly tags: unknown;
}

const starters = (template: Template): readonly Starter[] => [
  ...targets(template)
    .filter(({ target }) => at(target, "EcsParameters") !== undefined)
    .map(({ rule, target }) => ({
      id: rule.id,
      network: at(target, "EcsParameters", "NetworkConfiguration", "AwsVpcConfiguration"),
      strategy: listAt(target, "EcsParameters", "CapacityProviderStrategy"),
      launchType: at(target, "EcsParameters", "LaunchType"),
      tags: at(target, "EcsParameters", "PropagateTags"),
    })),
  ...ofType(template, "AWS::ECS::Service").map(({ id, properties }) => ({
    id,
    network: at(properties, "NetworkConfiguration", "AwsvpcConfiguration"),
    strategy: listAt(properties, "CapacityProviderStrategy"),
    launchType: properties["LaunchType"],
    tags: properties["PropagateTags"],
  })),
];

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
    .filter(({ properties }) => referenceOf(properties["SubnetId"]) === id)
    .map(({ properties }) => referenceOf(properties["RouteTableId"]));
  return ofType(template, "AWS::EC2::Route").some(
    ({ properties }) => isObject(properties["GatewayId"]) && tables.includes(referenceOf(properties["RouteTableId"])),
  );
}
