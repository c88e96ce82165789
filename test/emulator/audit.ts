/** Compares what was deployed with the template: a value that an emulator drops would otherwise be thought tested. */
import { at, byId, listAt, ofType, referred, type Template } from "../../infra/checks/template.ts";
import type { Aws } from "./aws-call.ts";
import { physicalIds } from "./deployed.ts";

export interface Difference {
  /** The resource's type and the field. */
  readonly field: string;
  readonly resource: string;
  readonly wanted: unknown;
  readonly found: unknown;
}

/**
 * What ministack is known not to do. A difference that is not named here fails the step, and so does a name that no
 * difference has any more: the list can neither grow nor grow stale unseen.
 */
export const knownGaps: Readonly<Record<string, string>> = {};

/** What the emulator cannot do at all, and what this step does instead. */
export const substitutes: readonly string[] = [
  "it starts no ECS tasks: a wake is played with the deployed task definition's command and environment",
  "it streams no answers: the API answers whole",
  "it refuses alarms on metric math: this stage chooses none for those",
];

export async function audit(aws: Aws, template: Template): Promise<readonly Difference[]> {
  const ids = await physicalIds(aws);
  const parts = await Promise.all([
    queues(aws, template, ids),
    mappings(aws, template, ids),
    functions(aws, template, ids),
    rules(aws, template, ids),
    tasks(aws, template, ids),
    alarms(aws, template, ids),
  ]);
  return parts.flat();
}

type Ids = ReadonlyMap<string, string>;

function compare(type: string, resource: string, fields: Readonly<Record<string, readonly [unknown, unknown]>>) {
  return Object.entries(fields)
    .filter(([, [wanted, found]]) => JSON.stringify(wanted) !== JSON.stringify(found))
    .map(([field, [wanted, found]]): Difference => ({ field: `${type} ${field}`, resource, wanted, found }));
}

async function queues(aws: Aws, template: Template, ids: Ids): Promise<readonly Difference[]> {
  const all = ofType(template, "AWS::SQS::Queue").map(async ({ id, type, properties }) => {
    const { Attributes: found } = await aws.json<{ Attributes: Record<string, string> }>(
      "sqs",
      "AmazonSQS.GetQueueAttributes",
      { QueueUrl: ids.get(id), AttributeNames: ["All"] },
    );
    const redrive = JSON.parse(found["RedrivePolicy"] ?? "{}") as Record<string, unknown>;
    const target = referred(at(properties, "RedrivePolicy", "deadLetterTargetArn"));
    const name = target === null ? undefined : ids.get(target)?.split("/").at(-1);
    return compare(type, id, {
      VisibilityTimeout: [Number(properties["VisibilityTimeout"] ?? 30), Number(found["VisibilityTimeout"])],
      MessageRetentionPeriod: [properties["MessageRetentionPeriod"], Number(found["MessageRetentionPeriod"])],
      maxReceiveCount: [at(properties, "RedrivePolicy", "maxReceiveCount"), redrive["maxReceiveCount"]],
      deadLetterTarget: [name, (redrive["deadLetterTargetArn"] as string | undefined)?.split(":").at(-1)],
    });
  });
  return (await Promise.all(all)).flat();
}

async function mappings(aws: Aws, template: Template, ids: Ids): Promise<readonly Difference[]> {
  const { EventSourceMappings: found } = await aws.get<{ EventSourceMappings: readonly Record<string, unknown>[] }>(
    "lambda",
    "/2015-03-31/event-source-mappings/",
  );
  return ofType(template, "AWS::Lambda::EventSourceMapping").flatMap(({ id, type, properties }) => {
    const queue =
      ids
        .get(referred(properties["EventSourceArn"]) ?? "")
        ?.split("/")
        .at(-1) ?? "";
    const mapping = found.find((each) => String(each["EventSourceArn"]).endsWith(`:${queue}`));
    return compare(type, id, {
      BatchSize: [properties["BatchSize"], mapping?.["BatchSize"]],
      MaximumConcurrency: [
        at(properties, "ScalingConfig", "MaximumConcurrency"),
        at(mapping, "ScalingConfig", "MaximumConcurrency"),
      ],
      FunctionResponseTypes: [properties["FunctionResponseTypes"], mapping?.["FunctionResponseTypes"]],
      State: ["Enabled", mapping?.["State"]],
    });
  });
}

async function functions(aws: Aws, template: Template, ids: Ids): Promise<readonly Difference[]> {
  const all = ofType(template, "AWS::Lambda::Function").map(async ({ id, type, properties }) => {
    const found = await aws.get<Record<string, unknown>>(
      "lambda",
      `/2015-03-31/functions/${ids.get(id) ?? ""}/configuration`,
    );
    const names = (value: unknown): readonly string[] => Object.keys(value ?? {}).toSorted();
    return compare(type, id, {
      Handler: [properties["Handler"], found["Handler"]],
      Timeout: [properties["Timeout"] ?? 3, found["Timeout"]],
      MemorySize: [properties["MemorySize"] ?? 128, found["MemorySize"]],
      Runtime: [properties["Runtime"], found["Runtime"]],
      Variables: [names(at(properties, "Environment", "Variables")), names(at(found, "Environment", "Variables"))],
    });
  });
  return (await Promise.all(all)).flat();
}

async function rules(aws: Aws, template: Template, ids: Ids): Promise<readonly Difference[]> {
  const all = ofType(template, "AWS::Events::Rule").map(async ({ id, type, properties }) => {
    const name = (ids.get(id) ?? "").split("|").at(-1);
    const rule = await aws.json<Record<string, unknown>>("events", "AWSEvents.DescribeRule", { Name: name });
    const { Targets } = await aws.json<{ Targets: readonly unknown[] }>("events", "AWSEvents.ListTargetsByRule", {
      Rule: name,
    });
    const [wanted] = listAt(properties, "Targets");
    const [found] = Targets;
    const network = (target: unknown): unknown =>
      at(target, "EcsParameters", "NetworkConfiguration", "AwsVpcConfiguration", "AssignPublicIp") ??
      at(target, "EcsParameters", "NetworkConfiguration", "awsvpcConfiguration", "AssignPublicIp");
    return compare(type, id, {
      ScheduleExpression: [properties["ScheduleExpression"], rule["ScheduleExpression"]],
      State: [properties["State"], rule["State"]],
      RetryAttempts: [
        at(wanted, "RetryPolicy", "MaximumRetryAttempts"),
        at(found, "RetryPolicy", "MaximumRetryAttempts"),
      ],
      EventAge: [
        at(wanted, "RetryPolicy", "MaximumEventAgeInSeconds"),
        at(found, "RetryPolicy", "MaximumEventAgeInSeconds"),
      ],
      DeadLetters: [true, at(found, "DeadLetterConfig", "Arn") !== undefined],
      NetworkConfiguration: [network(wanted), network(found)],
    });
  });
  return (await Promise.all(all)).flat();
}

async function tasks(aws: Aws, template: Template, ids: Ids): Promise<readonly Difference[]> {
  const all = ofType(template, "AWS::ECS::TaskDefinition").map(async ({ id, type, properties }) => {
    const found = await describeTask(aws, ids.get(id) ?? "");
    const [wanted] = listAt(properties, "ContainerDefinitions");
    const [container] = listAt(found, "containerDefinitions");
    const names = (list: readonly unknown[], field: string) => list.map((each) => String(at(each, field))).toSorted();
    return compare(type, id, {
      Cpu: [properties["Cpu"], at(found, "cpu")],
      Memory: [properties["Memory"], at(found, "memory")],
      Command: [at(wanted, "Command"), at(container, "command")],
      StopTimeout: [at(wanted, "StopTimeout"), at(container, "stopTimeout")],
      ReadonlyRootFilesystem: [at(wanted, "ReadonlyRootFilesystem"), at(container, "readonlyRootFilesystem")],
      Environment: [names(listAt(wanted, "Environment"), "Name"), names(listAt(container, "environment"), "name")],
    });
  });
  return (await Promise.all(all)).flat();
}

async function alarms(aws: Aws, template: Template, ids: Ids): Promise<readonly Difference[]> {
  const { MetricAlarms } = await aws.json<{ MetricAlarms: readonly Record<string, unknown>[] }>(
    "monitoring",
    "GraniteServiceVersion20100801.DescribeAlarms",
    { MaxRecords: 100 },
  );
  const deployed = new Map(MetricAlarms.map((alarm) => [alarm["AlarmName"], alarm]));
  return ofType(template, "AWS::CloudWatch::Alarm").flatMap(({ id, type, properties }) => {
    const found = deployed.get(ids.get(id));
    return compare(type, id, {
      MetricName: [properties["MetricName"], found?.["MetricName"]],
      Threshold: [properties["Threshold"], found?.["Threshold"]],
      EvaluationPeriods: [properties["EvaluationPeriods"], found?.["EvaluationPeriods"]],
      TreatMissingData: [properties["TreatMissingData"], found?.["TreatMissingData"]],
    });
  });
}

export async function describeTask(aws: Aws, arn: string): Promise<Readonly<Record<string, unknown>>> {
  const { taskDefinition } = await aws.json<{ taskDefinition: Record<string, unknown> }>(
    "ecs",
    "AmazonEC2ContainerServiceV20141113.DescribeTaskDefinition",
    { taskDefinition: arn },
  );
  return taskDefinition;
}

/** @throws Error naming every difference that is no known gap, and every known gap that is none any more. */
export function judge(differences: readonly Difference[]): void {
  const unknown = differences.filter(({ field }) => knownGaps[field] === undefined);
  const seen = new Set(differences.map(({ field }) => field));
  const stale = Object.keys(knownGaps).filter((field) => !seen.has(field));
  const lines = [
    ...unknown.map(
      (each) => `${each.field} of ${each.resource}: wanted ${show(each.wanted)}, found ${show(each.found)}`,
    ),
    ...stale.map((field) => `${field} is no gap any more: take it out of knownGaps`),
  ];
  if (lines.length > 0) throw new Error(`the deployed stack is not its template:\n${lines.join("\n")}`);
}

const show = (value: unknown): string => JSON.stringify(value) ?? "nothing";

/** The physical id of the only resource of a type whose logical id matches. */
export function idOf(template: Template, ids: Ids, type: string, pattern: RegExp): string {
  const [found, ...others] = ofType(template, type).filter(({ id }) => pattern.test(id));
  if (found === undefined || others.length > 0) throw new Error(`the template has not exactly one ${type} ${pattern}`);
  const physical = byId(template, found.id) === null ? undefined : ids.get(found.id);
  if (physical === undefined) throw new Error(`${found.id} was not deployed`);
  return physical;
}
