import { Match } from "aws-cdk-lib/assertions";
import type { Stack } from "aws-cdk-lib";
import { Cluster, type ICluster } from "aws-cdk-lib/aws-ecs";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { expect, test } from "vitest";
import { createDatabase } from "../../infra/constructs/database-choice.ts";
import { HttpApi } from "../../infra/constructs/http-api.ts";
import { Lane } from "../../infra/constructs/lane.ts";
import { Network } from "../../infra/constructs/network.ts";
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

test("the queues of a lane are encrypted and refuse plain connections", () => {
  const queues = resources(lane, "AWS::SQS::Queue");
  expect(queues.map(({ Properties }) => Properties["SqsManagedSseEnabled"])).toEqual([true, true]);
  expect(JSON.stringify(resources(lane, "AWS::SQS::QueuePolicy"))).toContain('"aws:SecureTransport":"false"');
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
