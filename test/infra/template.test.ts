import { loadApps, stages } from "../support/own-project.ts";
import type { Stage } from "../../src/stage/stages.ts";
import { Match, type Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, test } from "vitest";
import { deploymentOf } from "../../infra/stages.ts";
import { type LaneTopology, topology, type Topology } from "../../src/stage/topology.ts";
import { type Resource, resources, templateOf, unasked } from "./synthesize.ts";

const deployed: readonly Stage[] = [...Object.values<Stage>(stages).filter((stage) => stage.deployed), stages.emulator];

describe.each(deployed)("the template of stage $name is its topology", (stage) => {
  let all: Topology;
  let template: Template;
  beforeAll(async () => {
    all = unasked(topology(await loadApps(stage), stage));
    template = templateOf(all);
  });

  test("each lane has its queue, its dead-letter queue and the redrive between them", () => {
    expect(lanesOf(template)).toEqual(all.lanes.map(laneAsDeployed));
    // Besides the lanes' two each, one queue keeps wakes that could not start a task, where a rule starts any.
    const lost = resources(template, "AWS::Events::Rule").length > 0 ? 1 : 0;
    const queues = resources(template, "AWS::SQS::Queue");
    expect(queues).toHaveLength(2 * all.lanes.length + lost);
    expect(new Set(queues.map(({ Properties }) => Properties["SqsManagedSseEnabled"]))).toEqual(new Set([true]));
    const policies = resources(template, "AWS::SQS::QueuePolicy").map((each) => JSON.stringify(each));
    expect(policies.filter((each) => !each.includes('"aws:SecureTransport":"false"'))).toEqual([]);
    expect(policies).toHaveLength(queues.length);
  });

  test("each lane's worker has the lane's timeout, memory, batch and concurrency, and answers message by message", () => {
    for (const lane of all.lanes) {
      const mapping = mappingOf(template, laneQueue(template, lane.name));
      expect(mapping).toMatchObject({
        BatchSize: lane.batchSize,
        ScalingConfig: { MaximumConcurrency: lane.concurrency },
        FunctionResponseTypes: ["ReportBatchItemFailures"],
      });
      expect(mapping["MaximumBatchingWindowInSeconds"] ?? 0).toBe(lane.batchingWindowSeconds);
      expect(functionOf(template, mapping)).toMatchObject({
        Runtime: "nodejs24.x",
        Timeout: lane.functionTimeoutSeconds,
        MemorySize: lane.memoryMb,
        Environment: {
          Variables: {
            BELFRY_STAGE: stage.name,
            BELFRY_LANE: lane.name,
            BELFRY_POOL_SIZE: String(all.database.poolPerWorker),
          },
        },
      });
    }
  });

  test("each dead-letter queue is drained, and hides messages six times as long as the drain runs", () => {
    const drain = all.deadLetters;
    for (const lane of all.lanes) {
      const queue = deadLettersOf(template, laneQueue(template, lane.name));
      expect(queue.Properties["VisibilityTimeout"]).toBe(drain.visibilityTimeoutSeconds);
      const mapping = mappingOf(template, queue);
      expect(mapping).toMatchObject({
        BatchSize: drain.batchSize,
        ScalingConfig: { MaximumConcurrency: drain.concurrency },
        FunctionResponseTypes: ["ReportBatchItemFailures"],
      });
      expect(functionOf(template, mapping)).toMatchObject({
        Timeout: drain.functionTimeoutSeconds,
        Environment: { Variables: { BELFRY_POOL_SIZE: String(all.database.poolPerDrain) } },
      });
    }
    const drains = all.lanes.map((lane) =>
      functionId(mappingOf(template, deadLettersOf(template, laneQueue(template, lane.name)))),
    );
    expect(new Set(drains).size).toBe(1);
    expect(drain.visibilityTimeoutSeconds).toBeGreaterThanOrEqual(6 * drain.functionTimeoutSeconds);
  });

  test("each wake starts one scheduler task, is retried as often as it says, and is kept when lost", () => {
    const { spotPasses: isSpot = false, scheduler } = deploymentOf(stage.name);
    const wakes = scheduler === "service" ? [] : all.wakes;
    const spare = { CapacityProviderStrategy: [{ CapacityProvider: "FARGATE_SPOT", Weight: 1 }] };
    const onDemand = { LaunchType: "FARGATE" };
    const rules = resources(template, "AWS::Events::Rule");
    expect(rules).toHaveLength(wakes.length + (isSpot ? 1 : 0) + all.scheduleWakes.length);
    for (const wake of wakes) {
      template.hasResourceProperties("AWS::Events::Rule", {
        ScheduleExpression: wake.rateMinutes === 1 ? "rate(1 minute)" : `rate(${wake.rateMinutes} minutes)`,
        State: "ENABLED",
        Targets: [
          Match.objectLike({
            DeadLetterConfig: { Arn: Match.anyValue() },
            RetryPolicy: {
              MaximumEventAgeInSeconds: wake.maximumEventAgeSeconds,
              MaximumRetryAttempts: wake.retryAttempts,
            },
            EcsParameters: Match.objectLike({ TaskCount: 1, ...(isSpot ? spare : onDemand) }),
          }),
        ],
      });
    }
  });

  test("each schedule with a rule of its own has one that starts run-schedule, and only those", () => {
    const own = resources(template, "AWS::Events::Rule").flatMap(({ Properties }) => {
      const [target] = Properties["Targets"] as { Input?: string | { "Fn::Join": [string, unknown[]] } }[];
      const { Input: input = "" } = target ?? {};
      // What is known only when it is deployed is left out.
      const text =
        typeof input === "string" ? input : input["Fn::Join"][1].filter((part) => typeof part === "string").join("");
      if (!text.includes("run-schedule")) return [];
      return [{ at: Properties["ScheduleExpression"], input: JSON.parse(text) as unknown }];
    });
    const container = ({ schedule, lane }: (typeof all.scheduleWakes)[number]) => {
      const environment: unknown = expect.arrayContaining([{ name: "BELFRY_LANE", value: lane }]);
      return { containerOverrides: [{ name: "Pass", command: ["run-schedule", schedule], environment }] };
    };
    const wanted = all.scheduleWakes.map((wake) => ({ at: wake.expression, input: container(wake) }));
    expect(own).toHaveLength(wanted.length);
    expect(own).toEqual(expect.arrayContaining(wanted));
  });

  test("the scheduler task has the size and the time to stop that the topology gives it", () => {
    const { cpu, memoryMb, stopTimeoutSeconds } = all.schedulerTask;
    expect(resources(template, "AWS::ECS::TaskDefinition")).toHaveLength(1);
    template.hasResourceProperties("AWS::ECS::TaskDefinition", {
      Cpu: String(cpu),
      Memory: String(memoryMb),
      RuntimePlatform: { CpuArchitecture: "ARM64" },
      ContainerDefinitions: [
        Match.objectLike({
          Command: [deploymentOf(stage.name).scheduler === "service" ? "serve" : "pass"],
          StopTimeout: stopTimeoutSeconds,
          Environment: Match.arrayWith([
            { Name: "BELFRY_POOL_SIZE", Value: String(all.database.poolPerSchedulerTask) },
          ]),
        }),
      ],
    });
  });

  test("nothing has a physical name, and nothing that holds data is deleted with the stack", () => {
    const named = Object.entries(template.toJSON()["Resources"] as Record<string, Resource>).flatMap(([id, resource]) =>
      ["QueueName", "TableName", "FunctionName", "LogGroupName", "RoleName", "ClusterName", "Name"]
        .filter((field) => typeof resource.Properties?.[field] === "string")
        .map((field) => `${id}.${field}`),
    );
    expect(named).toEqual([]);
    const kept = ["AWS::DynamoDB::GlobalTable", "AWS::SQS::Queue", "AWS::Logs::LogGroup"].flatMap((type) =>
      resources(template, type),
    );
    const lanes = kept.filter(({ id }) => !id.includes("LostWakes"));
    expect(new Set(lanes.map(({ DeletionPolicy }) => DeletionPolicy))).toEqual(new Set(["RetainExceptOnCreate"]));
  });

  test("every log group has an end to what it keeps", () => {
    for (const { Properties } of resources(template, "AWS::Logs::LogGroup")) {
      expect(Properties["RetentionInDays"]).toBe(stage.logRetentionDays);
    }
  });
});

test.each([
  [true, 7],
  [false, undefined],
])("the API reserves its concurrency exactly where the stage says so: %s", (apiIsReserved, reserved) => {
  const made = resources(
    templateOf(topology([], { ...stages.dev, apiConcurrency: 7, apiIsReserved })),
    "AWS::Lambda::Function",
  ).filter(({ Properties }) => Properties["Description"] === "The HTTP API");
  expect(made.map(({ Properties }) => Properties["ReservedConcurrentExecutions"])).toEqual([reserved]);
});

type DeployedLane = Pick<
  LaneTopology,
  "visibilityTimeoutSeconds" | "retentionSeconds" | "maxReceiveCount" | "deadLetterRetentionSeconds"
>;

const laneAsDeployed = (lane: LaneTopology): DeployedLane & { name: string } => ({
  name: lane.name,
  visibilityTimeoutSeconds: lane.visibilityTimeoutSeconds,
  retentionSeconds: lane.retentionSeconds,
  maxReceiveCount: lane.maxReceiveCount,
  deadLetterRetentionSeconds: lane.deadLetterRetentionSeconds,
});

/** Read back from the template: a queue with a redrive policy is a lane's; its worker's environment names the lane. */
function lanesOf(template: Template): readonly unknown[] {
  const queues = resources(template, "AWS::SQS::Queue").filter(
    ({ Properties }) => Properties["RedrivePolicy"] !== undefined,
  );
  const lanes = queues.map((queue) => ({
    name: laneName(template, queue),
    visibilityTimeoutSeconds: queue.Properties["VisibilityTimeout"],
    retentionSeconds: queue.Properties["MessageRetentionPeriod"],
    maxReceiveCount: (queue.Properties["RedrivePolicy"] as { maxReceiveCount: number }).maxReceiveCount,
    deadLetterRetentionSeconds: deadLettersOf(template, queue).Properties["MessageRetentionPeriod"],
  }));
  return lanes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

interface LaneEnvironment {
  readonly Environment: { readonly Variables: { readonly BELFRY_LANE: string } };
}

const laneName = (template: Template, queue: Resource): string =>
  (functionOf(template, mappingOf(template, queue)) as unknown as LaneEnvironment).Environment.Variables.BELFRY_LANE;

function laneQueue(template: Template, name: string): Resource {
  const queues = resources(template, "AWS::SQS::Queue").filter(
    ({ Properties }) => Properties["RedrivePolicy"] !== undefined,
  );
  return only(queues.filter((queue) => laneName(template, queue) === name));
}

function deadLettersOf(template: Template, queue: Resource): Resource {
  const { deadLetterTargetArn } = queue.Properties["RedrivePolicy"] as {
    deadLetterTargetArn: { "Fn::GetAtt": [string] };
  };
  return only(resources(template, "AWS::SQS::Queue").filter(({ id }) => id === deadLetterTargetArn["Fn::GetAtt"][0]));
}

function mappingOf(template: Template, queue: Resource): Record<string, unknown> {
  const mappings = resources(template, "AWS::Lambda::EventSourceMapping");
  const source = (Properties: Record<string, unknown>) =>
    (Properties["EventSourceArn"] as { "Fn::GetAtt": [string] })["Fn::GetAtt"][0];
  return only(mappings.filter(({ Properties }) => source(Properties) === queue.id)).Properties;
}

const functionId = (mapping: Record<string, unknown>): string => (mapping["FunctionName"] as { Ref: string }).Ref;

const functionOf = (template: Template, mapping: Record<string, unknown>): Record<string, unknown> =>
  only(resources(template, "AWS::Lambda::Function").filter(({ id }) => id === functionId(mapping))).Properties;

function only<T>(found: readonly T[]): T {
  const [first] = found;
  if (first === undefined || found.length !== 1) throw new Error(`expected exactly one, found ${found.length}`);
  return first;
}
