import { at, listAt, referenceOf } from "../../infra/checks/template.ts";
import type { Aws } from "../../src/aws/aws-call.ts";
import { parseXml } from "./xml.ts";

interface Subject {
  readonly physicalId: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly ids: ReadonlyMap<string, string>;
}

type Reader = (aws: Aws, subject: Subject) => Promise<unknown>;

/** What the service says about a resource, in the template's shape; null where no reader knows its type. */
export async function described(aws: Aws, type: string, subject: Subject): Promise<unknown> {
  const reader = readers[type];
  return reader === undefined ? null : reader(aws, subject);
}

type Json = Readonly<Record<string, unknown>>;

const tagList = (tags: unknown): readonly Json[] =>
  Object.entries((tags ?? {}) as Record<string, unknown>).map(([Key, Value]) => ({ Key, Value }));

const parsed = (text: unknown): unknown => (typeof text === "string" ? (JSON.parse(text) as unknown) : undefined);

const physical = ({ ids }: Subject, value: unknown): string => ids.get(referenceOf(value) ?? "") ?? "";

async function queueAttributes(aws: Aws, QueueUrl: string): Promise<Readonly<Record<string, string>>> {
  const input = { QueueUrl, AttributeNames: ["All"] };
  const { Attributes } = await aws.json<{ Attributes: Record<string, string> }>(
    "sqs",
    "AmazonSQS.GetQueueAttributes",
    input,
  );
  return Attributes;
}

async function form(
  aws: Aws,
  service: string,
  action: string,
  input: Readonly<Record<string, string>>,
): Promise<unknown> {
  const versions: Readonly<Record<string, string>> = { iam: "2010-05-08", sns: "2010-03-31" };
  const answer = parseXml(await aws.form(service, action, { Version: versions[service] ?? "", ...input }));
  return at(answer, `${action}Response`, `${action}Result`);
}

const document = (text: unknown): unknown => parsed(decodeURIComponent(String(text)));

/** SNS lists attributes as entries of a key and a value. */
async function topic(aws: Aws, TopicArn: string): Promise<Json> {
  const attributes = await form(aws, "sns", "GetTopicAttributes", { TopicArn });
  const entries = [at(attributes, "Attributes", "entry")].flat();
  return Object.fromEntries(entries.map((each) => [String(at(each, "key")), at(each, "value")]));
}

const nameOf = (id: string): string => id.split("|").at(-1) ?? id;

const readers: Readonly<Record<string, Reader>> = {
  "AWS::SQS::Queue": async (aws, { physicalId }) => {
    const attributes = await queueAttributes(aws, physicalId);
    const { Tags } = await aws.json<{ Tags?: Json }>("sqs", "AmazonSQS.ListQueueTags", { QueueUrl: physicalId });
    return { ...attributes, RedrivePolicy: parsed(attributes["RedrivePolicy"]), Tags: tagList(Tags) };
  },
  "AWS::SQS::QueuePolicy": async (aws, subject) => {
    const url = physical(subject, listAt(subject.properties, "Queues")[0]);
    return { PolicyDocument: parsed((await queueAttributes(aws, url))["Policy"]), Queues: [url] };
  },
  "AWS::Lambda::Function": async (aws, { physicalId, properties }) => {
    const { Configuration, Tags } = await aws.get<Json>("lambda", `/2015-03-31/functions/${physicalId}`);
    const loops = await aws.get<Json>("lambda", `/2024-08-31/functions/${physicalId}/recursion-config`);
    // Lambda does not say where its code came from; the bundle is proven by what it does.
    return { ...(Configuration as Json), ...loops, Code: properties["Code"], Tags: tagList(Tags) };
  },
  "AWS::Lambda::EventSourceMapping": async (aws, { physicalId }) => {
    const mapping = await aws.get<Json>("lambda", `/2015-03-31/event-source-mappings/${physicalId}`);
    const { Tags } = await aws
      .get<Json>("lambda", `/2017-03-31/tags/${encodeURIComponent(String(mapping["EventSourceMappingArn"]))}`)
      .catch((): Json => ({}));
    return { ...mapping, FunctionName: mapping["FunctionArn"], Tags: tagList(Tags) };
  },
  "AWS::Lambda::Url": async (aws, subject) => {
    const name = physical(subject, subject.properties["TargetFunctionArn"]);
    const url = await aws.get<Json>("lambda", `/2021-10-31/functions/${name}/url`);
    return { ...url, TargetFunctionArn: url["FunctionArn"] };
  },
  "AWS::IAM::Role": async (aws, { physicalId: RoleName }) => {
    const role = at(await form(aws, "iam", "GetRole", { RoleName }), "Role");
    const attached = await form(aws, "iam", "ListAttachedRolePolicies", { RoleName });
    const arns = [at(attached, "AttachedPolicies", "member")].flat().map((each) => at(each, "PolicyArn"));
    return {
      AssumeRolePolicyDocument: document(at(role, "AssumeRolePolicyDocument")),
      ManagedPolicyArns: arns.filter((arn) => arn !== undefined),
      Tags: [at(role, "Tags", "member")].flat(),
    };
  },
  "AWS::IAM::Policy": async (aws, subject) => {
    const RoleName = physical(subject, listAt(subject.properties, "Roles")[0]);
    const PolicyName = String(subject.properties["PolicyName"]);
    const found = await form(aws, "iam", "GetRolePolicy", { RoleName, PolicyName });
    return { PolicyName, Roles: [RoleName], PolicyDocument: document(at(found, "PolicyDocument")) };
  },
  "AWS::Events::Rule": async (aws, { physicalId }) => {
    const Name = nameOf(physicalId);
    const rule = await aws.json<Json>("events", "AWSEvents.DescribeRule", { Name });
    const { Targets } = await aws.json<Json>("events", "AWSEvents.ListTargetsByRule", { Rule: Name });
    const tags = await aws
      .json<Json>("events", "AWSEvents.ListTagsForResource", { ResourceARN: rule["Arn"] })
      .catch((): Json => ({}));
    return { ...rule, EventPattern: parsed(rule["EventPattern"]), Targets, Tags: tags["Tags"] };
  },
  "AWS::ECS::Cluster": async (aws, { physicalId }) => {
    const input = { clusters: [physicalId], include: ["SETTINGS", "TAGS"] };
    const { clusters } = await aws.json<Json>("ecs", "AmazonEC2ContainerServiceV20141113.DescribeClusters", input);
    const [cluster] = [clusters].flat();
    return { ...(cluster as Json), ClusterSettings: at(cluster, "settings") };
  },
  "AWS::ECS::TaskDefinition": async (aws, { physicalId }) => {
    const input = { taskDefinition: physicalId, include: ["TAGS"] };
    const answer = await aws.json<Json>("ecs", "AmazonEC2ContainerServiceV20141113.DescribeTaskDefinition", input);
    return { ...(answer["taskDefinition"] as Json), Tags: answer["tags"] };
  },
  "AWS::DynamoDB::GlobalTable": async (aws, { physicalId: TableName }) => {
    const { Table } = await aws.json<{ Table: Json }>("dynamodb", "DynamoDB_20120810.DescribeTable", { TableName });
    const backups = await aws.json<Json>("dynamodb", "DynamoDB_20120810.DescribeContinuousBackups", { TableName });
    const status = at(
      backups,
      "ContinuousBackupsDescription",
      "PointInTimeRecoveryDescription",
      "PointInTimeRecoveryStatus",
    );
    const tags = await aws.json<Json>("dynamodb", "DynamoDB_20120810.ListTagsOfResource", {
      ResourceArn: Table["TableArn"],
    });
    return {
      ...Table,
      BillingMode: at(Table, "BillingModeSummary", "BillingMode"),
      Replicas: [
        {
          Region: aws.region,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: status === "ENABLED" },
          Tags: tags["Tags"],
        },
      ],
    };
  },
  "AWS::Logs::LogGroup": async (aws, { physicalId: logGroupNamePrefix }) => {
    const { logGroups } = await aws.json<Json>("logs", "Logs_20140328.DescribeLogGroups", { logGroupNamePrefix });
    const group = listAt({ logGroups }, "logGroups").find((each) => at(each, "logGroupName") === logGroupNamePrefix);
    const tags = await aws
      .json<Json>("logs", "Logs_20140328.ListTagsLogGroup", { logGroupName: logGroupNamePrefix })
      .catch((): Json => ({}));
    return { ...(group as Json), Tags: tagList(tags["tags"]) };
  },
  "AWS::SNS::Topic": async (aws, { physicalId }) => {
    const tags = await form(aws, "sns", "ListTagsForResource", { ResourceArn: physicalId }).catch(() => ({}));
    return { ...(await topic(aws, physicalId)), Tags: [at(tags, "Tags", "member")].flat() };
  },
  "AWS::SNS::TopicPolicy": async (aws, subject) => {
    const arn = physical(subject, listAt(subject.properties, "Topics")[0]);
    return { PolicyDocument: parsed((await topic(aws, arn))["Policy"]), Topics: [arn] };
  },
  "AWS::CloudWatch::Alarm": async (aws, { physicalId }) => {
    const input = { AlarmNames: [physicalId] };
    const target = "GraniteServiceVersion20100801";
    const { MetricAlarms } = await aws.json<Json>("monitoring", `${target}.DescribeAlarms`, input);
    const [alarm] = [MetricAlarms].flat();
    const tags = await aws
      .json<Json>("monitoring", `${target}.ListTagsForResource`, { ResourceARN: at(alarm, "AlarmArn") })
      .catch((): Json => ({}));
    return { ...(alarm as Json), Tags: tags["Tags"] };
  },
};
