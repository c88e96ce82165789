import { Duration, Validations } from "aws-cdk-lib";
import { Effect, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Architecture,
  type Code,
  Function,
  type FunctionProps,
  RecursiveLoop,
  Runtime,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { Database, DatabaseAccess } from "./database.ts";
import type { Network } from "./network.ts";

export interface FunctionShare {
  readonly network: Network;
  readonly database: Database;
  readonly logRetentionDays: number;
  /** Stage, queues and lock table. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface VpcFunctionProps {
  readonly share: FunctionShare;
  readonly code: Code;
  readonly description: string;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** How it connects. Default, and where it is null: as every process with handlers. */
  readonly access?: DatabaseAccess | null;
  /** Taken out of the account's concurrency. Default: none is. */
  readonly reservedConcurrency?: number;
}

/** Lambda brings the authorities of RDS along, but Node does not load them by itself. */
const authorities = "/var/runtime/ca-cert.pem";

const sourceMaps = "--enable-source-maps";
/** Belfry's own clients then take the names that answer over IPv6 too. Not every service has one, so handlers choose for themselves. */
const dualStack = {
  NODE_OPTIONS: `${sourceMaps} --dns-result-order=ipv6first`,
  BELFRY_DUALSTACK: "true",
};

/** Where a function is and what it must know to reach the database and the queues: part of its props. @beta */
export type Beside = Pick<
  FunctionProps,
  "vpc" | "vpcSubnets" | "securityGroups" | "ipv6AllowedForDualStack" | "environment"
>;

export const beside = ({ network, database, environment }: FunctionShare): Beside => ({
  vpc: network.vpc,
  vpcSubnets: network.functions,
  securityGroups: [database.clients],
  ...(network.isDualStack ? { ipv6AllowedForDualStack: true } : {}),
  environment: {
    ...(network.isDualStack ? dualStack : { NODE_OPTIONS: sourceMaps }),
    ...(database.verifyCertificate ? { BELFRY_DATABASE_CA: authorities } : {}),
    ...database.environment,
    ...environment,
  },
});

/** A function next to the database, with its own role, which may only write its log and connect. */
export class VpcFunction extends Construct {
  readonly function: Function;

  constructor(scope: Construct, id: string, props: VpcFunctionProps) {
    super(scope, id);
    const { database, logRetentionDays } = props.share;
    const { access, reservedConcurrency } = props;
    const place = beside(props.share);
    const logGroup = new LogGroup(this, "Log", { retention: logRetentionDays });
    const role = new Role(this, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    logGroup.grantWrite(role);
    allowInterfaces(role);
    this.function = new Function(this, "Function", {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: "index.handler",
      code: props.code,
      description: props.description,
      role,
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: props.memoryMb,
      ...place,
      environment: { ...place.environment, ...access?.environment, ...props.environment },
      ...(reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: reservedConcurrency }),
      logGroup,
      // A job enqueues the next one of its lane: Lambda would stop the 17th of such a chain, retries and pages included.
      // https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
      recursiveLoop: RecursiveLoop.ALLOW,
      tracing: Tracing.DISABLED,
    });
    if (access) access.grant(role);
    else database.grantConnect(role);
    acknowledge(this.function);
  }
}

/**
 * What Lambda needs to put a function into a VPC. The service's own calls cannot be limited to one interface; the same calls
 * made by code of a function carry the function's ARN, which the service's do not, and are denied.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
 */
function allowInterfaces(role: Role): void {
  const actions = ["CreateNetworkInterface", "DeleteNetworkInterface", "DescribeNetworkInterfaces", "DescribeSubnets"];
  const interfaces = {
    actions: [...actions, "AssignPrivateIpAddresses", "UnassignPrivateIpAddresses"].map((name) => `ec2:${name}`),
    resources: ["*"],
  };
  role.addToPolicy(new PolicyStatement(interfaces));
  const conditions = { Null: { "lambda:SourceFunctionArn": "false" } };
  role.addToPolicy(new PolicyStatement({ ...interfaces, effect: Effect.DENY, conditions }));
  Validations.of(role).acknowledge({
    id: "AwsSolutions-IAM5[Resource::*]",
    reason: "Lambda manages the network interfaces of functions in a VPC by calls that take no resource.",
  });
}

function acknowledge(fn: Function): void {
  Validations.of(fn).acknowledge(
    {
      id: "Serverless-LambdaTracing",
      reason: "Every job has its own trace in Postgres, over queue and retries; X-Ray would bill for less.",
    },
    {
      id: "Serverless-LambdaDLQ",
      reason:
        "Invoked by a queue with a dead-letter queue, or synchronously: Lambda's own asynchronous queue is not used.",
    },
    { id: "Serverless-LambdaDefaultMemorySize", reason: "The memory is set; what is measured needs no more." },
  );
}
