import { Match } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { checks } from "../../infra/checks/index.ts";
import type { Template as TemplateData } from "../../infra/checks/template.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { stages } from "../support/own-project.ts";
import { checkTopology, topology } from "../../src/stage/topology.ts";
import { resources, templateOf } from "./synthesize.ts";

const long = defineJob({ id: "long", runOn: "fargate", lane: "long", concurrency: 3, run: () => {} });
const short = defineJob({ id: "short", run: () => {} });
const app = defineApp({ name: "a", jobs: [long, short], lanes: { long: {} } });
const all = topology([app], stages.dev);
const template = templateOf(all);

const names = ["Job", "Pass"];
const taskOf = (container: string) => {
  const [task] = resources(template, "AWS::ECS::TaskDefinition").filter(({ Properties }) =>
    JSON.stringify(Properties["ContainerDefinitions"]).includes(`"Name":"${container}"`),
  );
  if (task === undefined) throw new Error(`no task has a container "${container}"`);
  return task;
};

test("a stage without jobs on Fargate has no task for them, and no function that listens for ends", () => {
  const without = topology([defineApp({ name: "a", jobs: [short] })], stages.dev);
  expect(without.jobTask).toBeNull();
  const plain = templateOf(without);
  expect(resources(plain, "AWS::ECS::TaskDefinition")).toHaveLength(1);
  expect(JSON.stringify(plain.toJSON())).not.toContain("BELFRY_TASKS");
});

test("a job's task has its own role, size and time to stop, and writes nothing to its disk", () => {
  const [job, pass] = names.map(taskOf);
  expect(job?.Properties["TaskRoleArn"]).not.toEqual(pass?.Properties["TaskRoleArn"]);
  expect(job?.Properties).toMatchObject({
    Cpu: String(all.jobTask?.cpu),
    Memory: String(all.jobTask?.memoryMb),
    ContainerDefinitions: [{ ReadonlyRootFilesystem: true, StopTimeout: all.jobTask?.stopTimeoutSeconds }],
  });
});

test("a task may be stopped by the API, the scheduler task, which cancel jobs, and by the migration when the stack goes", () => {
  const stopping = resources(template, "AWS::IAM::Policy").filter(({ Properties }) =>
    JSON.stringify(Properties["PolicyDocument"]).includes('"ecs:StopTask"'),
  );
  const whose = new Set(stopping.map(({ id }) => /HttpApi|Scheduler|Migration/.exec(id)?.[0] ?? id));
  expect(whose).toEqual(new Set(["HttpApi", "Scheduler", "Migration"]));
  expect(JSON.stringify(taskOf("Pass").Properties["ContainerDefinitions"])).toContain('"Name":"BELFRY_TASKS"');
  expect(JSON.stringify(taskOf("Job").Properties["ContainerDefinitions"])).not.toContain("BELFRY_TASKS");
});

test("of the functions only the worker of its lane and the API, which cancels, know where tasks run", () => {
  const knowing = resources(template, "AWS::Lambda::Function").filter(({ Properties }) =>
    JSON.stringify(Properties["Environment"] ?? {}).includes("BELFRY_TASKS"),
  );
  expect(knowing.map(({ id }) => id.replace(/[0-9A-F]{8}$/, "")).toSorted()).toEqual([
    "BelfryHttpApiFunction",
    "BelfryLanelongWorkerFunction",
  ]);
  const place = JSON.stringify(knowing.map(({ Properties }) => Properties["Environment"]));
  expect(place).toContain(taskOf("Job").id);
  expect(place).toContain('assignPublicIp\\":true');
});

test("the end of one of our tasks goes to a function, and to a queue when the function cannot take it", () => {
  const family = (taskOf("Job").Properties as { Family: string }).Family;
  template.hasResourceProperties("AWS::Events::Rule", {
    EventPattern: {
      source: ["aws.ecs"],
      "detail-type": ["ECS Task State Change"],
      detail: { clusterArn: [Match.anyValue()], lastStatus: ["STOPPED"], group: [`family:${family}`] },
    },
    Targets: [Match.objectLike({ DeadLetterConfig: { Arn: Match.anyValue() } })],
  });
  expect(resources(template, "AWS::Lambda::EventInvokeConfig")).toHaveLength(1);
  template.hasResourceProperties("AWS::Lambda::EventInvokeConfig", {
    DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
    MaximumRetryAttempts: 2,
  });
});

test("the template breaks none of our rules", () => {
  const data = template.toJSON() as TemplateData;
  expect(checks.flatMap(({ id, find }) => find(data).map(({ resource }) => `${id} ${resource}`))).toEqual([]);
});

test("the connections of tasks count in what the server must hold", () => {
  const before = topology([defineApp({ name: "a", jobs: [short], lanes: { long: {} } })], stages.dev);
  const more = all.database.connectionsMax - before.database.connectionsMax;
  expect(more).toBe(3 * all.database.poolPerWorker + 2);
  const many = defineJob({ id: "many", runOn: "fargate", concurrency: 40, run: () => {} });
  const problems = checkTopology(topology([defineApp({ name: "a", jobs: [many] })], stages.dev));
  expect(problems.map(({ field }) => field)).toEqual(["database.connectionsMax"]);
});
