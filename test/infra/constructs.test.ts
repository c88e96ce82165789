import { Match } from "aws-cdk-lib/assertions";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { expect, test } from "vitest";
import { Database } from "../../infra/constructs/database.ts";
import { Lane } from "../../infra/constructs/lane.ts";
import { LockTable } from "../../infra/constructs/lock-table.ts";
import { SchedulerTask } from "../../infra/constructs/scheduler-task.ts";
import { defineApp } from "../../src/core/definitions/define-app.ts";
import { stages } from "../../src/stages.ts";
import { topology } from "../../src/topology.ts";
import { code, image, resources, templateWith } from "./synthesize.ts";

const app = defineApp({ name: "app", lanes: { mail: { batchSize: 4, concurrency: 3 } } });
const all = topology([app], stages.dev);
const mail = all.lanes.find((lane) => lane.name === "mail") ?? all.lanes[0];
if (mail === undefined) throw new Error("the topology has no lane");

const locks = templateWith((stack) => {
  new LockTable(stack, "Locks").grantLocking(
    new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") }),
  );
});
const lane = templateWith((stack) => {
  const database = new Database(stack, "Database", "dev");
  new Lane(stack, "Mail", { lane: mail, topology: all, database, code }).grantSend(
    new Role(stack, "Role", { assumedBy: new ServicePrincipal("ecs-tasks.amazonaws.com") }),
  );
});
const scheduler = templateWith((stack) => {
  const database = new Database(stack, "Database", "dev");
  return new SchedulerTask(stack, "Scheduler", {
    topology: all,
    database,
    image,
    environment: { BELFRY_STAGE: "dev" },
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
    Replicas: [
      { DeletionProtectionEnabled: true, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
    ],
  });
  expect(table?.Properties).not.toHaveProperty("TimeToLiveSpecification");
  expect(table?.DeletionPolicy).toBe("Retain");
});

test("whoever locks may read and update items, and never delete one", () => {
  expect(policyActions(locks)).toEqual(["dynamodb:GetItem", "dynamodb:UpdateItem"]);
});

test("a lane's size is the topology's, and a failed message goes back alone", () => {
  expect(() => {
    lane.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
      BatchSize: 4,
      ScalingConfig: { MaximumConcurrency: 3 },
      FunctionResponseTypes: ["ReportBatchItemFailures"],
    });
  }).not.toThrow();
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

test("the address of the database is in the template as a reference, never as a value", () => {
  const addresses = resources(lane, "AWS::Lambda::Function").map(({ Properties }) => JSON.stringify(Properties));
  expect(addresses).toHaveLength(2);
  for (const each of addresses)
    expect(each).toMatch(/"DATABASE_URL":\{"Fn::Join":\["",\["\{\{resolve:secretsmanager:"/);
});

test("what belongs to the team is found by the parameters of its stage", () => {
  const defaults = Object.values(lane.findParameters("*")).map(
    (parameter) => (parameter as { Default: string }).Default,
  );
  const names = ["client-security-group", "database-secret-arn", "subnet-a", "subnet-b"];
  expect(defaults.filter((path) => path.startsWith("/belfry/")).toSorted()).toEqual(
    names.map((name) => `/belfry/dev/${name}`),
  );
});

test("a wake may run the task and pass on its roles, and nothing else", () => {
  const events = resources(scheduler, "AWS::IAM::Role").filter(({ Properties }) =>
    JSON.stringify(Properties["AssumeRolePolicyDocument"]).includes("events.amazonaws.com"),
  );
  expect(events).toHaveLength(1);
  expect(policyActions(scheduler)).toEqual(expect.arrayContaining(["ecs:RunTask", "iam:PassRole"]));
});

test("a task that could not be started leaves its wake in a queue that keeps it for two weeks", () => {
  expect(resources(scheduler, "AWS::SQS::Queue").map(({ Properties }) => Properties["MessageRetentionPeriod"])).toEqual(
    [1_209_600],
  );
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

test("the container of the scheduler task writes nothing and gets its secret from the store", () => {
  const [task] = resources(scheduler, "AWS::ECS::TaskDefinition");
  expect(task?.Properties["ContainerDefinitions"]).toMatchObject([
    {
      ReadonlyRootFilesystem: true,
      Secrets: [{ Name: "DATABASE_URL" }],
      Environment: [{ Name: "BELFRY_STAGE", Value: "dev" }],
    },
  ]);
});
