import { stages } from "../support/own-project.ts";
import type { Stage } from "../../src/stage/stages.ts";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { expect, test } from "vitest";
import { Belfry } from "../../infra/constructs/belfry.ts";
import { grantRead } from "../../infra/constructs/lane-settings.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import { checkSettings, missingSettings } from "../../src/stage/lane-settings.ts";
import { topology } from "../../src/stage/topology.ts";
import { newApp, resources, stackOf, templateOf, templateWith } from "./synthesize.ts";

const run = (): void => {};
const needs = { lane: "mail", environment: ["MAIL_FROM"], secrets: ["STRIPE_KEY"] } as const;
const app = defineApp({
  name: "shop",
  lanes: { mail: {} },
  jobs: [defineJob({ id: "send", ...needs, run }), defineJob({ id: "long", lane: "mail", runOn: "fargate", run })],
  schedules: [
    defineSchedule({ id: "daily", every: "1h", launch: "rule", run: defineJob({ id: "d", lane: "mail", run }) }),
  ],
});
const key = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:stripe-AbCdEf";
const stage: Stage = {
  ...stages.prod,
  eventWebhook: { url: "https://events.example.com/", secret: "/prod/webhook" },
  lanes: { mail: { memoryMb: 1_024, environment: { MAIL_FROM: "a@example.com" }, secrets: { STRIPE_KEY: key } } },
};
const all = topology([app], stage);
const whole = templateOf(all);

interface Statement {
  readonly Action: unknown;
  readonly Resource: unknown;
}
const statementsOf = (template: Template, role: RegExp): readonly Statement[] =>
  resources(template, "AWS::IAM::Policy")
    .filter(({ id }) => role.test(id))
    .flatMap(({ Properties }) => (Properties["PolicyDocument"] as { Statement: Statement[] }).Statement);

function variablesOf(template: Template, id: string): Readonly<Record<string, unknown>> {
  const found = resources(template, "AWS::Lambda::Function").find((each) => each.id.includes(id));
  const environment = (found?.Properties["Environment"] ?? {}) as { Variables?: Record<string, unknown> };
  return environment.Variables ?? {};
}

test("a lane's function has the stage's variables, memory and the reference of its secret, never a value", () => {
  const [worker] = resources(whole, "AWS::Lambda::Function").filter(({ id }) => id.includes("LanemailWorker"));
  expect(worker?.Properties).toMatchObject({
    MemorySize: 1_024,
    Environment: { Variables: { MAIL_FROM: "a@example.com", BELFRY_SECRETS: JSON.stringify({ STRIPE_KEY: key }) } },
  });
  const [other] = resources(whole, "AWS::Lambda::Function").filter(({ id }) => id.includes("LanedefaultWorker"));
  expect(JSON.stringify(other?.Properties)).not.toMatch(/MAIL_FROM|STRIPE_KEY/);
});

test("whatever runs jobs of the lane may read its secret: its function, tasks on Fargate, and the rule's task", () => {
  const reads = { Action: "secretsmanager:GetSecretValue", Effect: "Allow", Resource: key };
  for (const role of [/LanemailWorkerRole/, /JobsTaskRole/, /SchedulerTaskRole/]) {
    expect(statementsOf(whole, role)).toContainEqual(reads);
  }
  for (const role of [/LanedefaultWorkerRole/, /HttpApiRole/, /DeadLettersDrainRole/]) {
    expect(statementsOf(whole, role)).not.toContainEqual(reads);
  }
});

test("a task is given what its lane has when it is launched, by a worker or by a rule", () => {
  expect(JSON.stringify(variablesOf(whole, "LanemailWorker"))).toMatch(/environment.*BELFRY_LANE.*mail.*MAIL_FROM/);
  const rule = resources(whole, "AWS::Events::Rule").find(({ id }) => id.includes("Scheduledaily"));
  expect(JSON.stringify(rule?.Properties["Targets"])).toMatch(/MAIL_FROM.*a@example\.com/);
});

test("the scheduler posts events where the stage says, signed with a secret that it may read", () => {
  const [task] = resources(whole, "AWS::ECS::TaskDefinition").filter(({ id }) => id.includes("Scheduler"));
  const [{ Environment = [] } = {}] = (task?.Properties["ContainerDefinitions"] ?? []) as { Environment?: object[] }[];
  expect(Environment).toContainEqual({ Name: "BELFRY_EVENT_WEBHOOK", Value: "https://events.example.com/" });
  const secrets = JSON.stringify({ BELFRY_EVENT_WEBHOOK_SECRET: "/prod/webhook" });
  expect(Environment).toContainEqual({ Name: "BELFRY_SECRETS", Value: secrets });
  const actions = statementsOf(whole, /SchedulerTaskRole/).map(({ Action }) => Action);
  expect(actions).toContain("ssm:GetParameter");
});

test("a stack of one's own grants to a lane, and gives it variables and secrets, as to any construct", () => {
  const stack = stackOf(newApp(), all);
  const belfry = stack.node.findChild("Belfry") as Belfry;
  const bucket = new Bucket(stack, "Files");
  bucket.grantPut(belfry.lane("mail"));
  belfry.lane("mail").addEnvironment("BUCKET", bucket.bucketName);
  belfry.lane("mail").addSecret("OTHER", "/prod/other");
  belfry.lane("default").addSecret("BANK_KEY", new Secret(stack, "Bank"));
  const template = Template.fromStack(stack);
  for (const role of [/LanemailWorkerRole/, /JobsTaskRole/, /SchedulerTaskRole/]) {
    expect(JSON.stringify(statementsOf(template, role))).toMatch(/s3:PutObject/);
  }
  const beside = statementsOf(template, /LanedefaultWorkerRole/);
  expect(JSON.stringify(beside)).not.toMatch(/s3:PutObject/);
  // The ARN is known only when it is deployed.
  const Resource: unknown = expect.arrayContaining([{ Ref: expect.stringContaining("Bank") as string }]);
  const reads = { Action: "secretsmanager:GetSecretValue", Effect: "Allow", Resource };
  expect(beside).toContainEqual(reads);
  const Variables = variablesOf(template, "LanemailWorker");
  expect(Variables["BUCKET"]).toEqual({ Ref: expect.stringContaining("Files") as string });
  expect(JSON.parse(String(Variables["BELFRY_SECRETS"]))).toEqual({ STRIPE_KEY: key, OTHER: "/prod/other" });
  expect(JSON.stringify(Variables["BELFRY_TASKS"])).toContain("Files");
  expect(() => belfry.lane("post")).toThrow('there is no lane "post": use one of default, mail');
});

test("a stage that does not give what a job reads is refused, by check and by the construct", () => {
  const bare = topology([app], stages.prod);
  expect(missingSettings("prod", bare.lanes).map(({ thing, field, rule }) => `${thing} ${field} ${rule}`)).toEqual([
    'lane "mail" of stage "prod" environment.MAIL_FROM is read by a job of this lane',
    'lane "mail" of stage "prod" secrets.STRIPE_KEY is read by a job of this lane',
  ]);
  expect(missingSettings("prod", bare.lanes, { MAIL_FROM: "a", STRIPE_KEY: "b" })).toEqual([]);
  const cdk: App = newApp();
  stackOf(cdk, bare);
  expect(() => cdk.synth()).toThrow(/Lane-mail\] lane "mail" of stage "prod": environment\.MAIL_FROM/);
});

test("a secret written into the stage in place of its reference is refused, and not shown", () => {
  const careless: Stage = {
    ...stage,
    lanes: { mail: { secrets: { STRIPE_KEY: "sk_live_123" }, environment: { AWS_REGION: "x" } }, post: {} },
  };
  const problems = checkSettings(careless, topology([app], careless).lanes);
  expect(problems.map(({ field }) => field)).toEqual([
    "lanes.mail.AWS_REGION",
    "lanes.mail.secrets.STRIPE_KEY",
    "lanes.post",
  ]);
  expect(JSON.stringify(problems)).not.toContain("sk_live_123");
});

test("a secret that is named without AWS's six characters may be read too, and no other", () => {
  const named = (reference: string) =>
    resources(
      templateWith((stack) => {
        const role = new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
        grantRead(stack, reference, role);
      }),
      "AWS::IAM::Policy",
    ).map(({ Properties }) => JSON.stringify(Properties["PolicyDocument"]));
  const whole = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:stripe-AbCdEf";
  const bare = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:stripe";
  expect(named(whole)).toEqual([expect.stringContaining(`"Resource":"${whole}"`)]);
  expect(named(bare)).toEqual([expect.stringContaining(`"Resource":["${bare}","${bare}-??????"]`)]);
});
