/** A team's own app and network: what the construct finds by itself when the app is synthesized. */
import { type App, CfnResource, NestedStack, Stack, Validations } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import {
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpointAwsService,
  type IVpc,
  Port,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import { Key } from "aws-cdk-lib/aws-kms";
import { expect, test, vi } from "vitest";
import { noAlarms } from "../../infra/constructs/alarm-choices.ts";
import { Belfry } from "../../infra/constructs/belfry.ts";
import type { BelfryProps } from "../../infra/constructs/belfry-props.ts";
import { topology } from "../../src/stage/topology.ts";
import { loadApps, stages } from "../support/own-project.ts";
import { isAllowed } from "./policy.ts";
import { code, image, newApp, resources } from "./synthesize.ts";

const stage = { ...stages.prod, eventWebhook: { url: "https://hooks.example.com:8443/x", secret: "/prod/hook" } };
const release = { topology: topology(await loadApps(stage), stage), code, image };
const env = { account: "123456789012", region: "eu-west-1" };

/** Belfry in one stack, and what it stands on in another. */
function apart(vpcOf: (network: Stack) => Vpc, over: Partial<BelfryProps> = {}): { app: App; belfry: Belfry } {
  const app = newApp();
  const vpc = vpcOf(new Stack(app, "network", { env })) as IVpc;
  return { app, belfry: into(new Stack(app, "team", { env }), vpc, over) };
}

function into(stack: Stack, vpc: IVpc, over: Partial<BelfryProps> = {}, id = "Belfry"): Belfry {
  const network = { kind: "existing", vpc, subnets: { subnetGroupName: "in" } } as const;
  // Alarms are a third of a stage, and in no network.
  const unheard = { alarms: noAlarms, subscribers: { acknowledged: "a test" } } as const;
  return new Belfry(stack, id, { stage: stage.name, release, network, ...unheard, ...over });
}

const availabilityZones = ["eu-west-1a", "eu-west-1b"];
const isolated = (stack: Stack): Vpc =>
  new Vpc(stack, "Vpc", {
    availabilityZones,
    subnetConfiguration: [{ name: "in", subnetType: SubnetType.PRIVATE_ISOLATED }],
  });

const interfaces = {
  "ecr.api": InterfaceVpcEndpointAwsService.ECR,
  "ecr.dkr": InterfaceVpcEndpointAwsService.ECR_DOCKER,
  ecs: InterfaceVpcEndpointAwsService.ECS,
  logs: InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS,
  sqs: InterfaceVpcEndpointAwsService.SQS,
  ssm: InterfaceVpcEndpointAwsService.SSM,
} as const;
type Endpoint = keyof typeof interfaces | "dynamodb (gateway)" | "s3 (gateway)";

function withEndpoints(stack: Stack, left?: Endpoint): Vpc {
  const vpc = isolated(stack);
  const { DYNAMODB, S3 } = GatewayVpcEndpointAwsService;
  if (left !== "dynamodb (gateway)") vpc.addGatewayEndpoint("dynamodb", { service: DYNAMODB });
  if (left !== "s3 (gateway)") vpc.addGatewayEndpoint("s3", { service: S3 });
  for (const [name, service] of Object.entries(interfaces))
    if (name !== left) vpc.addInterfaceEndpoint(name, { service });
  return vpc;
}

const all = ["dynamodb (gateway)", ...Object.keys(interfaces), "s3 (gateway)"].toSorted();

test("isolated subnets of another stack are refused with every endpoint that Belfry's parts need, in one line", () => {
  const { app } = apart(isolated);
  expect(() => app.synth()).toThrow(`have no way out, so endpoints are missing: ${all.join(", ")})`);
});

test.each(["dynamodb (gateway)", "ecr.dkr"] as const)(
  "isolated subnets whose one missing endpoint is that of %s are refused for it",
  (endpoint) => {
    const { app } = apart((stack) => withEndpoints(stack, endpoint));
    expect(() => app.synth()).toThrow(`endpoints are missing: ${endpoint})`);
  },
);

test("isolated subnets of another stack with all endpoints are taken, and so is what others have in the stack", () => {
  const { app, belfry } = apart((stack) => withEndpoints(stack));
  // It keeps its lines for ever, which is their own affair.
  new CfnResource(Stack.of(belfry), "Theirs", { type: "AWS::Logs::LogGroup" });
  expect(() => app.synth()).not.toThrow();
});

/** Below a stack of the app: each name is one stack deeper. */
const nestedIn = (stack: Stack, ...names: readonly string[]): Stack =>
  names.reduce((parent, name) => new NestedStack(parent, name), stack);

/** Stacks of the network and of Belfry, from Belfry's stack of the app. */
type Placed = readonly [name: string, (team: Stack, app: App) => readonly [network: Stack, jobs: Stack]];
const apartOf = (app: App): Stack => new Stack(app, "network", { env });

test.each([
  ["of the stack that Belfry's is nested in", (team: Stack) => [team, nestedIn(team, "Jobs")]],
  ["two stacks above Belfry's", (team: Stack) => [team, nestedIn(team, "Jobs", "Deep")]],
  ["that the stack above imports", (team: Stack, app: App) => [apartOf(app), nestedIn(team, "Jobs", "Deep")]],
  ["of a stack nested two deep in Belfry's", (team: Stack) => [nestedIn(team, "Net", "Deep"), team]],
  [
    "of a nested stack beside the one of Belfry",
    (team: Stack) => [nestedIn(team, "Net"), nestedIn(team, "Jobs", "Net")],
  ],
  [
    "of a stack nested two deep in another",
    (team: Stack, app: App) => [nestedIn(apartOf(app), "Net", "Deep"), nestedIn(team, "Jobs")],
  ],
] satisfies readonly Placed[])("the network %s is followed", (_, placed) => {
  const app = newApp();
  const [network, jobs] = placed(new Stack(app, "team", { env }), app);
  into(jobs, withEndpoints(network, "sqs") as IVpc);
  // Of eight endpoints the others are seen, and all routes.
  expect(() => app.synth()).toThrow(/^(?![^]*are in no template)[^]*missing: sqs\)/);
});

test("each of two systems in one stack is held to its own migration and its own connections", () => {
  const app = newApp();
  const vpc = withEndpoints(new Stack(app, "network", { env })) as IVpc;
  const team = new Stack(app, "team", { env });
  into(team, vpc);
  into(team, vpc, { system: "second" }, "Second");
  expect(() => app.synth()).not.toThrow();
});

test("all checks are left out by one prop, and one of them by an acknowledgement", () => {
  expect(() => apart(isolated, { checks: false }).app.synth()).not.toThrow();
  const { app, belfry } = apart(isolated);
  Validations.of(belfry).acknowledge({ id: "Belfry::reachability", reason: "a transit gateway is their way out" });
  expect(() => app.synth()).not.toThrow();
});

test("of a network that is looked up it is said once what Belfry calls from it", () => {
  const print = vi.spyOn(console, "error").mockImplementation(() => {});
  const app = newApp();
  const stack = new Stack(app, "team", { env });
  const vpc = Vpc.fromVpcAttributes(stack, "Vpc", {
    vpcId: "vpc-0a1b2c3d",
    availabilityZones,
    privateSubnetIds: ["subnet-0a1b2c3d", "subnet-1a2b3c4d"],
    privateSubnetRouteTableIds: ["rtb-0a1b2c3d", "rtb-1a2b3c4d"],
    privateSubnetNames: ["in"],
  });
  into(stack, vpc);
  app.synth();
  const said = print.mock.calls.flat().join("\n");
  print.mockRestore();
  const calls = "dynamodb, ecr.api, ecr.dkr, ecs, logs, s3, sqs, ssm";
  expect(said.match(/the routes of its subnets are in no template.*/g)).toEqual([
    expect.stringContaining(`From them it calls ${calls} `),
  ]);
});

test("processes call by HTTPS, their database, a webhook's port, and what a stack opens, and nothing else", () => {
  const stack = new Stack(newApp(), "team", { env });
  const vpc = new Vpc(stack, "Vpc", {
    availabilityZones,
    subnetConfiguration: [
      { name: "in", subnetType: SubnetType.PRIVATE_WITH_EGRESS },
      { name: "out", subnetType: SubnetType.PUBLIC },
    ],
  });
  into(stack, vpc as IVpc).connections.allowToAnyIpv4(Port.tcp(587), "The mail relay");
  const template = Template.fromStack(stack);
  const [clients] = resources(template, "AWS::EC2::SecurityGroup").filter(({ id }) => id.includes("Clients"));
  const inline = clients?.Properties["SecurityGroupEgress"] as readonly Record<string, unknown>[];
  expect(inline.map(({ CidrIp, FromPort, ToPort }) => [CidrIp, FromPort, ToPort])).toEqual(
    [443, 8443, 587].map((port) => ["0.0.0.0/0", port, port]),
  );
  const others = resources(template, "AWS::EC2::SecurityGroupEgress").map(({ Properties }) => Properties);
  expect(others).toMatchObject([{ FromPort: 5432, ToPort: 5432 }]);
  expect(JSON.stringify(others)).toMatch(/DestinationSecurityGroupId.*DatabaseServer/);
});

test("a key of the app lets Logs and EventBridge use it for this account alone, and each process all that its calls need, through their services", () => {
  const stack = new Stack(newApp(), "keyed", { env });
  const key = new Key(stack, "Key");
  const archived = { ...release, topology: { ...release.topology, archive: { format: "ndjson" } as const } };
  into(stack, withEndpoints(stack) as IVpc, { encryptionKey: key, release: archived });
  const template = Template.fromStack(stack);
  const policy = JSON.stringify(resources(template, "AWS::KMS::Key")[0]?.Properties["KeyPolicy"]);
  expect(policy).toMatch(/"kms:EncryptionContext:aws:logs:arn".*log-group.*"logs\./);
  expect(policy).toMatch(/"aws:SourceAccount".*"events\.amazonaws\.com"/);
  // What a call of each service asks the key for, by AWS's documentation of it.
  const asked = [
    [/^sqs:ReceiveMessage$/, "sqs", ["Decrypt"]],
    [/^sqs:SendMessage$/, "sqs", ["GenerateDataKey", "Decrypt"]],
    [/^dynamodb:(Get|Update)Item$/, "dynamodb", ["Decrypt"]],
    [/^s3:PutObject$/, "s3", ["GenerateDataKey"]],
  ] as const;
  const roles = resources(template, "AWS::IAM::Policy").flatMap(({ Properties }) => {
    const { Statement } = Properties["PolicyDocument"] as { Statement: readonly { Action: string | string[] }[] };
    const [{ Ref: role } = { Ref: "" }] = Properties["Roles"] as { Ref: string }[];
    const actions = Statement.flatMap(({ Action }) => Action);
    return asked.filter(([call]) => actions.some((each) => call.test(each))).map((each) => ({ role, each }));
  });
  expect(new Set(roles.map(({ each: [, service] }) => service))).toEqual(new Set(["sqs", "dynamodb", "s3"]));
  expect(new Set(roles.map(({ role }) => role)).size).toBeGreaterThan(3);
  for (const { role, each } of roles)
    for (const right of each[2]) {
      const by = (via: string) => ({
        action: `kms:${right}`,
        resource: "Key.Arn",
        context: { "kms:ViaService": `${via}.eu-west-1.amazonaws.com` },
      });
      expect([role, right, isAllowed(template, role, by(each[1]))]).toEqual([role, right, true]);
      // Past every service it may not: it would read what is not its own.
      expect([role, right, isAllowed(template, role, by("rds"))]).toEqual([role, right, false]);
    }
});
