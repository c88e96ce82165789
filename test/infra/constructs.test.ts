import { Match } from "aws-cdk-lib/assertions";
import type { Stack } from "aws-cdk-lib";
import { Cluster, type ICluster } from "aws-cdk-lib/aws-ecs";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { expect, test } from "vitest";
import { createDatabase } from "../../infra/constructs/database-choice.ts";
import { HttpApi } from "../../infra/constructs/http-api.ts";
import { Lane } from "../../infra/constructs/lane.ts";
import { Network } from "../../infra/constructs/network.ts";
import { LockTable } from "../../infra/constructs/lock-table.ts";
import { SchedulerTask } from "../../infra/constructs/scheduler-task.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { stages } from "../support/own-project.ts";
import { topology } from "../../src/stage/topology.ts";
import type { Deployment } from "../../infra/stages.ts";
import { code, image, resources, templateWith } from "./synthesize.ts";

const app = defineApp({ name: "app", lanes: { mail: { batchSize: 4, concurrency: 3 } } });
const all = topology([app], stages.dev);
const mail = all.lanes.find((lane) => lane.name === "mail") ?? all.lanes[0];
if (mail === undefined) throw new Error("the topology has no lane");

const stageDefaults: Pick<Deployment, "network" | "database"> = {
  network: { kind: "by-parameters" },
  database: { kind: "existing" },
};
const shareIn = (stack: Stack, over: Partial<Deployment> = {}) => {
  const { network: kind, database: which } = { ...stageDefaults, ...over };
  const network = new Network(stack, "Network", { network: kind, system: "shop", stage: "dev", logRetentionDays: 30 });
  const database = createDatabase(stack, "Database", { database: which, network, topology: all, system: "shop" });
  return { network, database, logRetentionDays: 30, environment: { BELFRY_STAGE: "dev" } };
};
const role = (stack: Stack, id = "Role") =>
  new Role(stack, id, { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });

const locks = templateWith((stack) => {
  const table = new LockTable(stack, "Locks");
  table.grantHandlerLocks(role(stack, "Worker"));
  table.grantOwnLocks(role(stack, "Scheduler"));
});
const lane = templateWith((stack) => {
  const share = shareIn(stack);
  const made = new Lane(stack, "Mail", { lane: mail, topology: all });
  made.addWorker(share, code.functions.worker);
  made.grantSend(role(stack));
});
const scheduler = templateWith((stack) => {
  const { network, database } = shareIn(stack);
  const cluster = new Cluster(stack, "Cluster", { vpc: network.vpc }) as ICluster;
  return new SchedulerTask(stack, "Scheduler", {
    topology: all,
    network,
    database,
    cluster,
    image,
    environment: { BELFRY_STAGE: "dev" },
    kind: "each-minute",
    isSpot: false,
    lanes: [],
  });
});

const policyActions = (template: typeof lane): readonly string[] =>
  resources(template, "AWS::IAM::Policy").flatMap(({ Properties }) => {
    const { Statement } = Properties["PolicyDocument"] as { Statement: { Action: string | string[] }[] };
    return Statement.flatMap(({ Action }) => Action);
  });

test("the lock table is keyed by name, never expires an item, and stays when the stack goes", () => {
  const [table] = resources(locks, "AWS::DynamoDB::GlobalTable");
  expect(table?.Properties).toMatchObject({
    KeySchema: [{ AttributeName: "name", KeyType: "HASH" }],
    BillingMode: "PAY_PER_REQUEST",
    Replicas: [{ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }],
  });
  expect(table?.Properties).not.toHaveProperty("TimeToLiveSpecification");
  expect(table?.DeletionPolicy).toBe("RetainExceptOnCreate");
});

test("who locks may read and update items, and never delete one", () => {
  expect(new Set(policyActions(locks))).toEqual(new Set(["dynamodb:GetItem", "dynamodb:UpdateItem"]));
});

test("a handler cannot take the scheduler's locks, and the scheduler takes no other", () => {
  const conditions = resources(locks, "AWS::IAM::Policy").map(({ Properties }) => {
    const { Statement } = Properties["PolicyDocument"] as { Statement: { Condition: unknown }[] };
    return Statement.map(({ Condition }) => Condition);
  });
  // In the order of the roles' names: the worker's, then the scheduler's.
  const names = { "dynamodb:LeadingKeys": ["belfry:*"] };
  expect(conditions).toEqual([[{ "ForAllValues:StringNotLike": names }], [{ "ForAllValues:StringLike": names }]]);
});

test("the queues of a lane are encrypted and refuse plain connections", () => {
  const queues = resources(lane, "AWS::SQS::Queue");
  expect(queues.map(({ Properties }) => Properties["SqsManagedSseEnabled"])).toEqual([true, true]);
  expect(JSON.stringify(resources(lane, "AWS::SQS::QueuePolicy"))).toContain('"aws:SecureTransport":"false"');
});

test("a lane's functions may receive from their own queues, and only who is granted may send", () => {
  const sends = policyActions(lane).filter((action) => action === "sqs:SendMessage");
  expect(sends).toHaveLength(1);
  expect(policyActions(lane)).toContain("sqs:ReceiveMessage");
});

test("no function and no task has a password in its environment", () => {
  for (const template of [lane, scheduler]) {
    expect(JSON.stringify(template.toJSON())).not.toContain("{{resolve:secretsmanager:");
  }
  const [worker] = resources(lane, "AWS::Lambda::Function");
  expect(worker?.Properties["Environment"]).toMatchObject({
    Variables: { BELFRY_DATABASE_SECRET: { Ref: expect.stringContaining("databasesecretarn") as string } },
  });
});

test("what belongs to the team is found by the parameters of its stage", () => {
  const defaults = Object.values(lane.findParameters("*")).map(
    (parameter) => (parameter as { Default: string }).Default,
  );
  const names = ["client-security-group", "database-secret-arn", "database-url", "subnet-a", "subnet-b"];
  expect(defaults.filter((path) => path.startsWith("/belfry/")).toSorted()).toEqual(
    names.map((name) => `/belfry/shop/dev/${name}`),
  );
});

test("a wake may run the task with its tags and pass on its two roles to ECS, and nothing else", () => {
  const [wake] = resources(scheduler, "AWS::IAM::Policy").filter(({ id }) => id.includes("WakeRole"));
  const { Statement } = (wake?.Properties["PolicyDocument"] ?? { Statement: [] }) as {
    Statement: Record<string, unknown>[];
  };
  expect(Statement).toMatchObject([
    { Action: "ecs:RunTask", Condition: { ArnEquals: { "ecs:cluster": expect.anything() as unknown } } },
    { Action: "iam:PassRole", Condition: { StringEquals: { "iam:PassedToService": "ecs-tasks.amazonaws.com" } } },
    { Action: "ecs:TagResource", Condition: { StringEquals: { "ecs:CreateAction": "RunTask" } } },
  ]);
  expect(Statement).toHaveLength(3);
  expect(Statement[1]?.["Resource"]).toHaveLength(2);
});

test("the scheduler task runs in the team's subnets behind the database's client group, and gets no address", () => {
  expect(() => {
    scheduler.hasResourceProperties("AWS::Events::Rule", {
      Targets: [
        Match.objectLike({
          EcsParameters: Match.objectLike({
            NetworkConfiguration: { AwsVpcConfiguration: Match.objectLike({ AssignPublicIp: "DISABLED" }) },
          }),
        }),
      ],
    });
  }).not.toThrow();
});

test("the container of the scheduler task writes nothing to its disk", () => {
  const [task] = resources(scheduler, "AWS::ECS::TaskDefinition");
  expect(task?.Properties["ContainerDefinitions"]).toMatchObject([
    {
      ReadonlyRootFilesystem: true,
      Environment: expect.arrayContaining([{ Name: "BELFRY_STAGE", Value: "dev" }]) as unknown,
    },
  ]);
});

test.each([
  [true, 7],
  [false, undefined],
])("the API reserves its concurrency exactly where the stage says so: %s", (apiIsReserved, reserved) => {
  const asked = topology([app], { ...stages.dev, apiConcurrency: 7, apiIsReserved });
  const api = templateWith((stack) => {
    new HttpApi(stack, "HttpApi", { share: shareIn(stack), code: code.functions.api, topology: asked, system: "shop" });
  });
  const [made] = resources(api, "AWS::Lambda::Function").filter(
    ({ Properties }) => Properties["Description"] === "The HTTP API",
  );
  expect(made?.Properties["ReservedConcurrentExecutions"]).toBe(reserved);
});
