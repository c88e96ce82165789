import { readFileSync } from "node:fs";
import { Match, Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { noAlarms } from "../../infra/constructs/alarm-choices.ts";
import { topology } from "../../src/stage/topology.ts";
import { loadApps, stages } from "../support/own-project.ts";
import { templateOf } from "./synthesize.ts";

/** What an author asks for and the resource of the stage `systems` that shows it: its construct, type and properties. */
type Row = readonly [system: string, requirement: string, construct: string, type: string, properties: object];

const apps = await loadApps(stages.systems);
const template = templateOf(topology(apps, stages.systems));

const queue = "AWS::SQS::Queue";
const rule = "AWS::Events::Rule";
const worker = "AWS::Lambda::Function";
const alarm = "AWS::CloudWatch::Alarm";
const [task, policy] = ["AWS::ECS::TaskDefinition", "AWS::IAM::Policy"];
const of = (id: string) => ({ "Fn::GetAtt": [Match.stringLikeRegexp(id), "Arn"] });
const lockTable = { BillingMode: "PAY_PER_REQUEST", KeySchema: [{ AttributeName: "name", KeyType: "HASH" }] };
const twoWeeks = { MessageRetentionPeriod: 14 * 86_400 };
const everyMinute = "cron(* * * * ? *)";
const fiveMinutes = "cron(0,5,10,15,20,25,30,35,40,45,50,55 * * * ? *)";

const to = (topic: "Page" | "Warn", Threshold: number, MetricName: unknown = Match.anyValue()) => ({
  AlarmActions: [{ Ref: Match.stringLikeRegexp(`Topics${topic}`) }],
  MetricName,
  Threshold,
});

/** A schedule's own rule: it starts one task on Fargate, is asked again twice, and keeps what could not start. */
function started(schedule: string, ScheduleExpression: string) {
  const target = {
    DeadLetterConfig: { Arn: of("LostWakes") },
    EcsParameters: Match.objectLike({ LaunchType: "FARGATE", TaskCount: 1 }),
    Input: { "Fn::Join": ["", Match.arrayWith([Match.stringLikeRegexp(`"run-schedule","${schedule}"`)])] },
    RetryPolicy: { MaximumEventAgeInSeconds: 120, MaximumRetryAttempts: 2 },
  };
  return { ScheduleExpression, State: "ENABLED", Targets: [Match.objectLike(target)] };
}

/** Variables whose values are parameters of the stack. */
const reads = (variables: Readonly<Record<string, string>>) => ({
  Environment: { Variables: Object.fromEntries(Object.entries(variables).map(([name, Ref]) => [name, { Ref }])) },
});

const logged = { LogConfiguration: Match.objectLike({ LogDriver: "awslogs" }) };
const taskSize = { Cpu: "256", Memory: "512", ContainerDefinitions: [Match.objectLike(logged)] };
const toOrders = {
  Action: Match.arrayWith(["sqs:SendMessage"]),
  Resource: Match.arrayWith([{ Ref: "OrdersQueueArn" }]),
};
const ofRelay = {
  Action: "secretsmanager:GetSecretValue",
  Resource: Match.arrayWith([{ Ref: "TimeCapsuleSmtpSecretArn" }]),
};
const readsPassword = { PolicyDocument: { Statement: Match.arrayWith([Match.objectLike(ofRelay)]) } };
const publishes = { PolicyDocument: { Statement: Match.arrayWith([Match.objectLike(toOrders)]) } };

/** A lane: its queue that dead-letters after five receives, its function, what joins the two, and the alarm. */
function lane(system: string, name: string, size: { concurrency: number; timeout: number }, why: string): Row[] {
  const deadLetterTargetArn = of(`Lane${name}DeadLetters`);
  const own = { RedrivePolicy: { deadLetterTargetArn, maxReceiveCount: 5 }, VisibilityTimeout: 6 * size.timeout };
  const batches = { BatchSize: 10, FunctionResponseTypes: ["ReportBatchItemFailures"] };
  const mapping = { ...batches, ScalingConfig: { MaximumConcurrency: size.concurrency } };
  return [
    [system, why, `Lane-${name}/Queue`, queue, own],
    [system, `dead letters of ${name}`, `Lane-${name}/DeadLetters`, queue, twoWeeks],
    [system, `workers of ${name}`, `Lane-${name}/Worker/Function`, worker, { Timeout: size.timeout }],
    [system, `at once in ${name}`, `Lane-${name}/.*/Messages`, "AWS::Lambda::EventSourceMapping", mapping],
    [system, `${name} is not drained`, `Alarms/DeadLetters-${name}`, alarm, to("Page", 0)],
  ];
}

const rows: readonly Row[] = [
  ["S0 18, 14", "in production", "Schedule-outbox-retry", rule, started("outbox-retry", everyMinute)],
  ["S0 20", "a second one", "Schedule-external-.*", rule, started("external-download-retry", fiveMinutes)],
  ["S0 16, 17", "a task of its own", "Scheduler/Task", task, taskSize],
  ["S0 6, 7", "one lock for all", "Locks/Table", "AWS::DynamoDB::GlobalTable", lockTable],
  ["S0 18", "a wake that is lost is kept", "Scheduler/LostWakes", queue, twoWeeks],
  ["S0 18", "and noticed", "Alarms/LostWakes", alarm, to("Warn", 0)],
  ["S0 19", "slow runs", "Alarms/Execution", alarm, to("Warn", 1, "worst.slow")],
  ["S0 19", "more than 10 % of the items fail", "Alarms/FailedItems", alarm, to("Page", 10, "worst.items.failed")],
  ["S0 19", "more than half the locks fail", "Alarms/JobLockFailed", alarm, to("Warn", 50, "worst.lock.failed")],
  ["S0 10", "a retry by hand publishes", "Lane-default/Worker/Role/DefaultPolicy", policy, publishes],
  ["S0 10", "the task publishes", "Scheduler/TaskRole/DefaultPolicy", policy, publishes],
  ["S0 20", "downloads files", "Lane-default/Worker/Function", worker, reads({ FILES_URL: "FilesUrl" })],
  ...lane("S1 1, 2", "taskflow", { concurrency: 2, timeout: 90 }, "jobs run beside the server, each in its attempt"),
  ["S1 2, 3", "a server", "Http/Api/Function/FunctionUrl", "AWS::Lambda::Url", { AuthType: "AWS_IAM" }],
  ["S1 11", "a stale job is noticed", "Alarms/Rescues", alarm, to("Warn", 0, "scheduler.jobs.lost")],
  ["S1 12", "an outbox that is published", "Scheduler/Wake-pass", rule, { ScheduleExpression: "rate(1 minute)" }],
  ["S1 18", "the lock store is down", "Alarms/LockOutage", alarm, to("Page", 0, "scheduler.lock.outage")],
  ["S1 21, 23", "a look at all of it", "Alarms/Dashboard", "AWS::CloudWatch::Dashboard", {}],
  ["S1 13", "publishes", "Lane-taskflow/.*", worker, reads({ TASKFLOW_PUBLISHER_URL: "TaskflowPublisherUrl" })],
  ...lane("S2 8, 9, 12", "push", { concurrency: 5, timeout: 60 }, "at most 50 calls at once, and dead letters apart"),
  ["S2 10", "the push service", "Lane-push/Worker/Function", worker, reads({ QUIZ_PUSH_URL: "QuizPushUrl" })],
  ["S2 17", "a dead worker's messages come back", "Alarms/OldestMessage-push", alarm, to("Warn", 660)],
  ["S2 19", "dead letters wait for a person", "Alarms/WaitingDeadLetters", alarm, to("Warn", 0, "jobs.dead")],
  ["S2 20", "a wall of them pages", "Alarms/FailingKind", alarm, to("Page", 50, "worst.failed")],
  ...lane("S3 2", "cluster", { concurrency: 5, timeout: 150 }, "several workers, with dead letters"),
  ["S3 5, 6", "the outbox is in Postgres", "Database/Instance", "AWS::RDS::DBInstance", { Engine: "postgres" }],
  ["S3 11", "a failed batch", "Alarms/FailedRuns", alarm, to("Page", 0, "runs.failed")],
  ["S3 14", "a batch that never ends", "Alarms/LongRuns", alarm, to("Warn", 0, "runs.long")],
  ["S3 8", "the cluster", "Lane-cluster/Worker/Function", worker, reads({ DAG_SERVICES_URL: "DagServicesUrl" })],
  ["settlement", "the bank", "Lane-default/Worker/Function", worker, reads({ DAG_SERVICES_URL: "DagServicesUrl" })],
  ...lane("S4 4, 5", "openings", { concurrency: 2, timeout: 60 }, "openings wait for no mail"),
  ...lane("S4 6", "mail", { concurrency: 2, timeout: 90 }, "mails wait for each other at most"),
  ["S4 1", "each minute", "Scheduler/Wake-pass", rule, { ScheduleExpression: "rate(1 minute)", State: "ENABLED" }],
  ["S4 3", "a late opening pages", "Alarms/LateSweep", alarm, to("Page", 0, "sweep.late")],
  ["S4 6", "sends by a relay whose password it may read", "Lane-mail/Worker/Role/DefaultPolicy", policy, readsPassword],
  ["S4 12", "viewUrl", "Lane-mail/Worker/Function", worker, reads({ TIME_CAPSULE_BASE_URL: "TimeCapsuleBaseUrl" })],
];

const shownBy = (subject: Template, [, , construct, type, Properties]: Row): readonly string[] =>
  Object.keys(
    subject.findResources(type, {
      Properties,
      Metadata: { "aws:cdk:path": Match.stringLikeRegexp(`/${construct}(/Resource)?$`) },
    }),
  );

describe.each(rows)("%s: %s", (...row) => {
  test("is in the template once, and missed where it is taken out", () => {
    const [id = "", ...others] = shownBy(template, row);
    expect([id, others]).toEqual([expect.stringContaining("Belfry"), []]);
    const { [id]: _, ...rest } = template.toJSON()["Resources"] as Record<string, unknown>;
    expect(shownBy(Template.fromJSON({ Resources: rest }), row)).toEqual([]);
  });
});

test("no outside address stands in the template: each is a parameter without a default", () => {
  const own = Object.entries(template.findParameters("*", { AllowedPattern: Match.anyValue() }));
  expect(own.map(([, parameter]) => "Default" in parameter)).toEqual(Array.from({ length: 7 }, () => false));
});

test.each([
  ["batch-scheduler", ["default"], ["FILES_URL", "ORDERS_QUEUE_URL"]],
  ["daily-quiz", ["push"], ["QUIZ_PUSH_URL"]],
  ["dag-batch", ["cluster", "default"], ["DAG_SERVICES_URL"]],
  ["taskflow", ["taskflow"], ["TASKFLOW_PUBLISHER_URL"]],
])("%s in a stage of one's own is refused by the synthesis without its address", async (app, lanes, variables) => {
  const synthesized = async (given: readonly string[]) => {
    const environment = Object.fromEntries(given.map((name) => [name, "https://example.com"]));
    const stage = {
      ...stages.prod,
      apps: [app],
      lanes: Object.fromEntries(lanes.map((name) => [name, { environment }])),
    };
    return templateOf(topology(await loadApps(stage), stage), { alarms: noAlarms });
  };
  for (const name of variables) {
    const others = variables.filter((each) => each !== name);
    await expect(synthesized(others)).rejects.toThrow(`environment.${name} "(missing)" is read by a job of this lane`);
  }
  await expect(synthesized(variables)).resolves.toBeDefined();
});

test("time-capsule in a stage of one's own is refused by the synthesis without the secret that has its mail relay", async () => {
  const stage = { ...stages.prod, apps: ["time-capsule"], database: { maxConnections: 300, poolPerWorker: 2 } };
  const own = topology(await loadApps(stage), stage);
  expect(() => templateOf(own, { alarms: noAlarms })).toThrow(
    'secrets.TIME_CAPSULE_SMTP_URL "(missing)" is read by a job of this lane',
  );
  const secrets = { mail: { secrets: { TIME_CAPSULE_SMTP_URL: "/mail/relay" } } };
  expect(templateOf(topology(await loadApps(stage), { ...stage, lanes: secrets }), { alarms: noAlarms })).toBeDefined();
});

test("the lines of docs/deploy.md put the daily quiz into prod", async () => {
  const guide = readFileSync(new URL("../../docs/deploy.md", import.meta.url), "utf8");
  const [, lines = ""] = /### Deploy the daily quiz\n[^]*?become\n\n([^]*?)\n\n/.exec(guide) ?? [];
  const quoted = lines
    .replaceAll(/(\w+): /g, '"$1": ')
    .trim()
    .replace(/,$/, "");
  const stage = { ...stages.prod, ...(JSON.parse(`{ ${quoted} }`) as Pick<typeof stages.prod, "apps" | "lanes">) };
  const all = topology(await loadApps(stage), stage);
  const found = { Environment: { Variables: { QUIZ_PUSH_URL: "https://push.example.com" } } };
  expect(shownBy(templateOf(all), ["S2", "", "Lane-push/Worker/Function", worker, found])).toHaveLength(1);
  expect(all.lanes.map(({ name }) => name)).toEqual(["default", "push"]);
});

test("S0 14: both every five minutes where production is not meant, and off in a stage that is not named", () => {
  const rulesOf = (name: string) =>
    topology(apps, { ...stages.systems, name }).scheduleWakes.map(({ expression }) => expression);
  expect(rulesOf("examples")).toEqual([fiveMinutes, fiveMinutes]);
  expect(rulesOf("prod").toSorted()).toEqual([everyMinute, fiveMinutes]);
  expect(rulesOf("dev")).toEqual([]);
});
