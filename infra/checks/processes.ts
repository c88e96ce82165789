import { at, byId, type NamedResource, listAt, ofType, ownFunctions, referenceOf, type Template } from "./template.ts";

/** A part of the stack that runs in a subnet and calls others. */
export interface Process {
  readonly id: string;
  /** Logical ids; of a network that others made there are none. */
  readonly subnets: readonly string[];
  readonly groups: readonly string[];
  readonly hasAddress: boolean;
  /** Services that it calls over IPv6, by the names that have it. */
  readonly overIpv6: readonly string[];
  /** Services that its policies name and its code or its start calls; `database` is Postgres. */
  readonly calls: readonly string[];
}

/** Services whose dual-stack names the SDK knows, beside S3 and DynamoDB, which have gateways of their own. */
const dualStackServices = ["ecs", "events", "kms", "lambda", "secretsmanager", "sns", "sqs", "ssm", "sts"];
/** Those of them that Belfry's code calls itself. */
const ownClients = ["ecs", "kms", "secretsmanager", "sqs", "ssm"];

export const processes = (template: Template): readonly Process[] => [
  ...ownFunctions(template).map((fn) => functionProcess(template, fn)),
  ...taskPlaces(template).map((place) => taskProcess(template, place)),
];

function functionProcess(template: Template, { id, properties }: NamedResource): Process {
  const variables = at(properties, "Environment", "Variables");
  return {
    id,
    subnets: idsOf(listAt(properties, "VpcConfig", "SubnetIds")),
    groups: idsOf(listAt(properties, "VpcConfig", "SecurityGroupIds")),
    hasAddress: false,
    overIpv6:
      at(properties, "VpcConfig", "Ipv6AllowedForDualStack") !== true
        ? []
        : [
            ...(at(variables, "BELFRY_DUALSTACK") === "true" ? ownClients : []),
            ...(at(variables, "AWS_USE_DUALSTACK_ENDPOINT") === "true" ? dualStackServices : []),
          ],
    calls: calls(template, [properties["Role"]], byService),
  };
}

/** The service itself writes a function's log, makes its interfaces and receives its messages. */
const byService = /^(logs|ec2):|^sqs:(ReceiveMessage|DeleteMessage|ChangeMessageVisibility|GetQueueAttributes)$/;
/** Rights that are no calls: a role is passed inside RunTask. */
const noCall = /^iam:PassRole$/;

interface TaskPlace {
  readonly task: NamedResource;
  readonly subnets: readonly string[];
  readonly groups: readonly string[];
  readonly hasAddress: boolean;
  /** Given with its launch, in place of the definition's. */
  readonly role?: unknown;
}

function taskProcess(template: Template, { task, role, ...place }: TaskPlace): Process {
  const roles = [role ?? task.properties["TaskRoleArn"], task.properties["ExecutionRoleArn"]];
  return {
    ...place,
    id: task.id,
    overIpv6: [],
    // To start, it fetches its image, whose layers are in S3, and opens its log.
    calls: [...new Set([...calls(template, roles, noCall), ...images, "logs", "s3"])],
  };
}

/** Where tasks run: a rule, a service, or a worker that launches them says it. */
function taskPlaces(template: Template): readonly TaskPlace[] {
  const rules = ofType(template, "AWS::Events::Rule").flatMap(({ properties }) =>
    listAt(properties, "Targets").map((target) => ({
      task: at(target, "EcsParameters", "TaskDefinitionArn"),
      network: at(target, "EcsParameters", "NetworkConfiguration", "AwsVpcConfiguration"),
    })),
  );
  const services = ofType(template, "AWS::ECS::Service").map(({ properties }) => ({
    task: properties["TaskDefinition"],
    network: at(properties, "NetworkConfiguration", "AwsvpcConfiguration"),
  }));
  const found = [...rules, ...services].flatMap(({ task, network }) => {
    const definition = byId(template, referenceOf(task));
    if (definition === null) return [];
    return [
      {
        task: definition,
        subnets: idsOf(listAt(network, "Subnets")),
        groups: idsOf(listAt(network, "SecurityGroups")),
        hasAddress: at(network, "AssignPublicIp") === "ENABLED",
      },
    ];
  });
  return [...found, ...launchedTasks(template)];
}

/** The variable is JSON that CloudFormation joins: its references become their names. */
export function launchedTasks(template: Template): readonly TaskPlace[] {
  const places = new Set(
    ownFunctions(template)
      .map(({ properties }) => at(properties, "Environment", "Variables", "BELFRY_TASKS"))
      .filter((value) => value !== undefined)
      .map((value) => joinText(value)),
  );
  return [...places].flatMap((text) => {
    const place = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const task = byId(template, String(place["taskDefinition"]));
    const names = (field: string): readonly string[] => listAt(place, field).map(String);
    if (task === null) return [];
    return [
      {
        task,
        subnets: names("subnets").filter((id) => byId(template, id) !== null),
        groups: names("securityGroups"),
        hasAddress: place["assignPublicIp"] === true,
        role: typeof place["taskRole"] === "string" ? { Ref: place["taskRole"] } : undefined,
      },
    ];
  });
}

/** A text with the logical ids of what it refers to. */
export function joinText(value: unknown): string {
  if (typeof value === "string") return value;
  const [separator, parts] = listAt(value, "Fn::Join");
  if (Array.isArray(parts)) return parts.map((part) => joinText(part)).join(String(separator));
  return referenceOf(value) ?? "";
}

function calls(template: Template, roles: readonly unknown[], left: RegExp): readonly string[] {
  const ids = new Set(roles.map(referenceOf));
  const actions = ofType(template, "AWS::IAM::Policy")
    .filter(({ properties }) => listAt(properties, "Roles").some((role) => ids.has(referenceOf(role))))
    .flatMap(({ properties }) => listAt(properties, "PolicyDocument", "Statement"))
    .filter((statement) => at(statement, "Effect") === "Allow" && !isThroughService(statement))
    .flatMap((statement) => [at(statement, "Action")].flat().map(String))
    .filter((action) => !left.test(action) && !noCall.test(action));
  return [...new Set(actions.flatMap((action) => servicesOf(action.split(":")[0] ?? "")))].toSorted();
}

/** The service calls, not the process. */
export const isThroughService = (statement: unknown): boolean =>
  at(statement, "Condition", "StringEquals", "kms:ViaService") !== undefined;

/** By the names of their endpoints. ECR has one to sign in and one for images. */
const images = ["ecr.api", "ecr.dkr"];
const servicesOf = (prefix: string): readonly string[] =>
  prefix === "ecr" ? images : [prefix === "rds-db" ? "database" : prefix];

const idsOf = (values: readonly unknown[]): readonly string[] => values.flatMap((value) => referenceOf(value) ?? []);
