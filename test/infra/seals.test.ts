import { Template } from "aws-cdk-lib/assertions";
import { Key } from "aws-cdk-lib/aws-kms";
import { Code, Function, Runtime } from "aws-cdk-lib/aws-lambda";
import { Stack } from "aws-cdk-lib";
import { expect, test } from "vitest";
import { findings } from "../../infra/checks/index.ts";
import { reachOf } from "../../infra/checks/reach.ts";
import type { Template as CheckedTemplate } from "../../infra/checks/template.ts";
import { Belfry } from "../../infra/constructs/belfry.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { topology } from "../../src/stage/topology.ts";
import { stages } from "../support/own-project.ts";
import { code, image, newApp, resources } from "./synthesize.ts";

const run = (): void => {};
const teams = [
  defineApp({
    name: "payroll",
    lanes: { pay: {} },
    jobs: [defineJob({ id: "pay", lane: "pay", seal: "payroll", runOn: "fargate", run })],
  }),
  defineApp({
    name: "loans",
    lanes: { loan: {} },
    jobs: [defineJob({ id: "loan", lane: "loan", seal: "loans", runOn: "fargate", run })],
  }),
  defineApp({ name: "mail", jobs: [defineJob({ id: "send", run })] }),
];
const all = topology(teams, { ...stages.prod, apps: [], database: { maxConnections: 300, poolPerWorker: 2 } });

function synthesized(names: readonly string[]): Template {
  const stack = new Stack(newApp(), "teams");
  const keys = Object.fromEntries(names.map((name) => [name, new Key(stack, `Key-${name}`)]));
  const belfry = new Belfry(stack, "Belfry", {
    stage: "prod",
    seals: keys,
    release: { topology: all, code, image },
    subscribers: ["ops@example.com"],
  });
  const signup = new Function(stack, "Signup", {
    runtime: Runtime.NODEJS_24_X,
    handler: "index.handler",
    code: Code.fromInline("exports.handler = 6"),
    ...belfry.client,
  });
  belfry.grantEnqueue(signup);
  return Template.fromStack(stack);
}

interface Statement {
  readonly Action: string | readonly string[];
  readonly Condition?: unknown;
}

/** Which key's rights a role has, by its name in the template. */
function rightsOf(template: Template, role: RegExp): readonly string[] {
  const policies = resources(template, "AWS::IAM::Policy").filter(({ id }) => role.test(id));
  expect(policies.length).toBeGreaterThan(0);
  return policies
    .flatMap(({ Properties }) => (Properties["PolicyDocument"] as { Statement: readonly Statement[] }).Statement)
    .filter(({ Action }) => JSON.stringify(Action).includes("kms:"))
    .flatMap(({ Action, Condition }) => {
      const { StringEquals } = Condition as { StringEquals: Readonly<Record<string, string>> };
      return [Action].flat().map((action) => `${action} ${StringEquals["kms:EncryptionContext:belfry:seal"]}`);
    })
    .toSorted();
}

test("a lane decrypts by its own key alone, the API, the scheduler and who may enqueue only encrypt, and others do neither", () => {
  const template = synthesized(["payroll", "loans"]);
  for (const role of [/LanepayWorkerRole/, /JobsTaskRolepay/])
    expect(rightsOf(template, role)).toEqual(["kms:Decrypt payroll", "kms:GenerateDataKey payroll"]);
  for (const role of [/LaneloanWorkerRole/, /JobsTaskRoleloan/])
    expect(rightsOf(template, role)).toEqual(["kms:Decrypt loans", "kms:GenerateDataKey loans"]);
  for (const role of [/HttpApiRole/, /SchedulerTaskRole/, /SignupServiceRole/])
    expect(rightsOf(template, role)).toEqual(["kms:GenerateDataKey loans", "kms:GenerateDataKey payroll"]);
  for (const role of [/LanedefaultWorkerRole/, /DeadLettersDrainRole/, /MigrationMigrateRole/])
    expect(rightsOf(template, role)).toEqual([]);
  for (const { id, Properties } of resources(template, "AWS::Lambda::Function").filter(({ id }) => /Worker/.test(id)))
    expect([id, JSON.stringify(Properties)]).toEqual([id, expect.stringMatching(/BELFRY_SEALS.*payroll.*Keypayroll/)]);
  const checked = template.toJSON() as CheckedTemplate;
  expect(findings(checked).map(({ check }) => check.id)).not.toContain("seal-keys");
  expect(reachOf(checked).findings).toEqual([]);
});

test("a function of the team's own that enqueues is where a worker is, signs in as one, sends to each lane and follows the schema", () => {
  const template = synthesized(["payroll", "loans"]);
  const [own, worker] = ["Signup", "LanedefaultWorker"].map((name) => {
    const found = resources(template, "AWS::Lambda::Function").find(({ id }) => id.includes(name));
    if (found === undefined) throw new Error(`no function is named ${name}`);
    const { Properties } = found;
    const { Variables } = Properties["Environment"] as { Variables: Readonly<Record<string, unknown>> };
    return { network: Properties["VpcConfig"], isDualStack: Properties["Ipv6AllowedForDualStack"], Variables, found };
  });
  expect(own).toMatchObject({ network: worker?.network, isDualStack: worker?.isDualStack });
  expect(worker?.Variables).toMatchObject(own?.Variables ?? {});
  expect(own?.Variables).toHaveProperty("DATABASE_URL");
  expect(own?.found).toMatchObject({ DependsOn: expect.arrayContaining([expect.stringMatching(/MigrationRelease/)]) });
  const policy = JSON.stringify(resources(template, "AWS::IAM::Policy").find(({ id }) => id.includes("Signup")));
  expect(policy).toMatch(/rds-db:connect.*belfry_app/);
  expect(policy).toMatch(/"sqs:SendMessage"[^}]*LanedefaultQueue[^}]*}[^}]*LaneloanQueue[^}]*}[^}]*LanepayQueue/);
});

test("a stage without the key of one of its jobs is refused by name", () => {
  expect(() => synthesized(["payroll"])).toThrow('jobs of lane "loan" are sealed by "loans": give the key');
});
