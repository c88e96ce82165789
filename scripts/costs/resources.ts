import { at, byId, type NamedResource, listAt, referenceOf, type Template } from "../../infra/checks/template.ts";
import { databaseUses, priceNamed } from "../../infra/constructs/database-choice.ts";
import { taskUses } from "./jobs.ts";
import { gb, hoursAMonth, million, type PriceName, use, type Use } from "../../src/insight/prices.ts";

/** What a resource costs in a month in which no job runs. Nothing: its use is counted elsewhere, or it is free. */
type Row = (resource: NamedResource, template: Template) => readonly Use[];

const minutesAMonth = hoursAMonth * 60;
const free: Row = () => [];

/** Five pollers a mapping, each asking again every 20 seconds. */
const pollsAMonth = (5 * minutesAMonth * 60) / 20;
/** Taking the lock, a heartbeat every 10 s for 55 s, releasing it; reading it before and after. */
const lockCalls = { writes: 8, reads: 3 };
/** A pass ends after 57 s; Fargate bills from the pull of the image, which we have not measured and take for 15 s. */
export const billedSeconds = 72;
/** Lines of a pass that found nothing, and what goes through a NAT gateway to start a task: layers come by the S3 endpoint. */
const wakeBytes = { log: 4_000, network: 100_000 };

/** Every resource type of the templates. A missing one fails, because it might be the one that costs. */
export const rows: Readonly<Record<string, Row>> = {
  "AWS::CloudWatch::Alarm": ({ properties }) => {
    const metrics = listAt(properties, "Metrics").filter((each) => at(each, "MetricStat") !== undefined).length;
    return [use("CloudWatch alarm, metric", Math.max(1, metrics), "alarms, by the metrics they read")];
  },
  // The first three of an account cost nothing.
  "AWS::CloudWatch::Dashboard": free,
  "AWS::DynamoDB::GlobalTable": free,
  "AWS::EC2::EIP": () => [use("public IPv4 address", hoursAMonth, "address of the NAT")],
  "AWS::EC2::EgressOnlyInternetGateway": free,
  "AWS::EC2::FlowLog": free,
  "AWS::EC2::Instance": ({ properties }) => [
    use(priced(`EC2 ${String(properties["InstanceType"])}`), hoursAMonth, "NAT instance"),
    use("EBS gp3", 8, "disk of the NAT instance"),
    use("public IPv4 address", hoursAMonth, "address of the NAT"),
  ],
  "AWS::EC2::InternetGateway": free,
  "AWS::EC2::NatGateway": () => [use("NAT gateway", hoursAMonth, "NAT gateway")],
  "AWS::EC2::Route": free,
  "AWS::EC2::RouteTable": free,
  "AWS::EC2::SecurityGroup": free,
  "AWS::EC2::SecurityGroupEgress": free,
  "AWS::EC2::SecurityGroupIngress": free,
  "AWS::EC2::Subnet": free,
  "AWS::EC2::SubnetRouteTableAssociation": free,
  "AWS::EC2::VPC": free,
  "AWS::EC2::VPCCidrBlock": free,
  // Gateways to S3 and DynamoDB are free; an interface is not, and has no row yet.
  "AWS::EC2::VPCEndpoint": ({ id, properties }) => {
    if (properties["VpcEndpointType"] === "Gateway") return [];
    throw new Error(`${id}: an interface endpoint has no price in src/insight/prices.ts`);
  },
  "AWS::EC2::VPCGatewayAttachment": free,
  "AWS::ECS::Cluster": free,
  "AWS::ECS::ClusterCapacityProviderAssociations": free,
  "AWS::ECS::Service": service,
  "AWS::ECS::TaskDefinition": free,
  "AWS::Events::Rule": wakes,
  "AWS::IAM::InstanceProfile": free,
  "AWS::IAM::Policy": free,
  "AWS::IAM::Role": free,
  "AWS::Lambda::EventSourceMapping": () => [use("SQS, requests", pollsAMonth / million, "idle pollers of the queues")],
  "AWS::Lambda::Function": free,
  "AWS::Lambda::Permission": free,
  "AWS::Lambda::Url": free,
  "AWS::Logs::LogGroup": free,
  "AWS::RDS::DBInstance": ({ properties }) => {
    const instance = priced(`RDS ${String(properties["DBInstanceClass"])}`);
    return [
      ...databaseUses(instance, Number(properties["AllocatedStorage"]), properties["MultiAZ"] === true),
      ...(properties["ManageMasterUserPassword"] === true ? [use("secret", 1, "the administrator's secret")] : []),
    ];
  },
  "AWS::RDS::DBParameterGroup": free,
  "AWS::RDS::DBSubnetGroup": free,
  "AWS::RDS::EventSubscription": free,
  "AWS::SNS::Subscription": free,
  "AWS::SNS::Topic": free,
  "AWS::SNS::TopicPolicy": free,
  "AWS::SQS::Queue": free,
  "AWS::SQS::QueuePolicy": free,
  "Custom::BelfryMigration": free,
};

/** @throws Error naming the types that no row is about, and prices that are missing. */
export function idleUses(template: Template): readonly Use[] {
  const unknown = new Set(
    Object.values(template.Resources)
      .map(({ Type }) => Type)
      .filter((type) => rows[type] === undefined),
  );
  if (unknown.size > 0) {
    throw new Error(
      `no price row for ${[...unknown].join(", ")}: add one to scripts/costs/resources.ts, \`free\` if it is`,
    );
  }
  return Object.entries(template.Resources).flatMap(([id, { Type }]) => {
    const resource = byId(template, id);
    return resource === null ? [] : (rows[Type]?.(resource, template) ?? []);
  });
}

const taskOf = ({ properties }: NamedResource, template: Template): NamedResource | null =>
  byId(template, referenceOf(at(listAt(properties, "Targets")[0], "EcsParameters", "TaskDefinitionArn")));

/** How many tasks a rule starts in a month. */
export const taskStarts = (rule: NamedResource, template: Template): number =>
  taskOf(rule, template) === null ? 0 : timesAMonth(String(rule.properties["ScheduleExpression"]));

/** A rule that starts a task: what its tasks use. Rules without one cost nothing. */
function wakes(rule: NamedResource, template: Template): readonly Use[] {
  const [target] = listAt(rule.properties, "Targets");
  const task = taskOf(rule, template);
  if (task === null) return [];
  const times = taskStarts(rule, template);
  return [
    ...runningUses({
      task,
      hours: (times * billedSeconds) / 3_600,
      isSpot: listAt(target, "EcsParameters", "CapacityProviderStrategy").length > 0,
      hasAddress: hasAddress(at(target, "EcsParameters", "NetworkConfiguration", "AwsVpcConfiguration")),
    }),
    ...passUses(times),
    use("EventBridge, events", times / million, "wakes"),
    ...(hasGateway(template)
      ? [use("NAT gateway, data", (times * wakeBytes.network) / gb, "starts of the tasks")]
      : []),
  ];
}

/** A service of one task, which makes passes all the time. */
function service({ properties }: NamedResource, template: Template): readonly Use[] {
  const task = byId(template, referenceOf(properties["TaskDefinition"]));
  if (task === null) return [];
  return [
    ...runningUses({
      task,
      hours: hoursAMonth,
      isSpot: listAt(properties, "CapacityProviderStrategy").length > 0,
      hasAddress: hasAddress(at(properties, "NetworkConfiguration", "AwsvpcConfiguration")),
    }),
    ...passUses(minutesAMonth),
  ];
}

const hasAddress = (network: unknown): boolean => at(network, "AssignPublicIp") === "ENABLED";

const hasGateway = (template: Template): boolean =>
  Object.values(template.Resources).some(({ Type }) => Type === "AWS::EC2::NatGateway");

/** Of passes of a minute each. */
const passUses = (times: number): readonly Use[] => [
  use("DynamoDB, writes", (times * lockCalls.writes) / million, "the scheduler's lock"),
  use("DynamoDB, reads", (times * lockCalls.reads) / million, "the scheduler's lock"),
  use("CloudWatch logs, written", (times * wakeBytes.log) / gb, "log of the scheduler"),
];

interface RunningTask {
  readonly task: NamedResource;
  readonly hours: number;
  readonly isSpot: boolean;
  readonly hasAddress: boolean;
}

const runningUses = ({ task, hours, isSpot, hasAddress }: RunningTask): readonly Use[] => [
  ...schedulerUses(hours, { cpu: Number(task.properties["Cpu"]), memoryMb: Number(task.properties["Memory"]) }, isSpot),
  ...(hasAddress ? [use("public IPv4 address", hours, "address of the scheduler tasks")] : []),
];

const schedulerUses = (hours: number, size: Parameters<typeof taskUses>[1], isSpot: boolean): readonly Use[] =>
  taskUses(hours, size, isSpot ? "scheduler tasks, on spare capacity" : "scheduler tasks", isSpot);

/** A cron expression is taken for one of every minute: an upper bound, because one wake starts at most one task. */
function timesAMonth(expression: string): number {
  const rate = /^rate\((\d+) minutes?\)$/.exec(expression)?.[1];
  return minutesAMonth / Number(rate ?? 1);
}

function priced(name: string): PriceName {
  const found = priceNamed(name);
  if (found === null)
    throw new Error(`"${name}" has no price: add it to src/insight/prices.ts with the day you looked it up`);
  return found;
}
