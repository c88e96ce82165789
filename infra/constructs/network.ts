import { CfnParameter, Fn, Annotations, Stack, Token } from "aws-cdk-lib";
import {
  FlowLogDestination,
  FlowLogTrafficType,
  GatewayVpcEndpointAwsService,
  IpAddresses,
  IpProtocol,
  type IVpc,
  type SubnetSelection,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import { Role } from "aws-cdk-lib/aws-iam";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { DeployedStage } from "../../src/stage/deployed-api.ts";
import { addNatInstance } from "./nat-instance.ts";
import { forOurOwn } from "./service-principal.ts";

/** How processes reach the targets outside AWS that answer over IPv4 only. AWS's own services need none of it. @beta */
export type Ipv4 =
  /** Not at all. A handler that calls such a target fails with ENETUNREACH. */
  | { readonly ipv4: "none" }
  /** A NAT gateway in one zone, or in both: then no zone depends on the other. */
  | { readonly ipv4: "gateway"; readonly gateways: 1 | 2 }
  /** An instance that forwards, of an Amazon Linux 2023 image for ARM that you name, so that no new image replaces it. */
  | { readonly ipv4: "instance"; readonly imageId: string };

/** Where a deployment runs. A network that Belfry makes spans two zones, because RDS asks for two, and has IPv6. @beta */
export type NetworkProps =
  | ({
      /** Nothing in it has a public address but its gateways. */
      readonly kind: "default";
      /** Names of two zones. Needed where the stack names its region; else CloudFormation takes the first two. */
      readonly zones?: readonly [string, string];
      /** IPv4 range, at least a /20. Give each its own where networks are to be joined: it cannot change later. Default 10.0.0.0/16. */
      readonly cidr?: string;
    } & Exclude<Ipv4, { ipv4: "none" }>)
  | ({
      /** The cheap one: tasks have public addresses and no inbound. */
      readonly kind: "small";
      readonly zones?: readonly [string, string];
      readonly cidr?: string;
    } & Ipv4)
  | {
      /** The team's own. */
      readonly kind: "existing";
      readonly vpc: IVpc;
      /** With a way out to AWS's services. Default: private subnets with egress. */
      readonly subnets?: SubnetSelection;
    }
  | {
      /** The team's own, by SSM parameters `/belfry/<system>/<stage>/{subnet-a,subnet-b}`; its database is an existing one too. */
      readonly kind: "by-parameters";
    };

export interface NetworkConstructProps extends DeployedStage {
  readonly network: NetworkProps;
  readonly logRetentionDays: number;
}

/** The VPC and who runs where in it. Nothing in it accepts connections from outside. */
export class Network extends Construct {
  readonly kind: NetworkProps["kind"];
  readonly vpc: IVpc;
  readonly functions: SubnetSelection;
  readonly tasks: SubnetSelection;
  /** Whether a task needs a public address to reach AWS's services. */
  readonly assignPublicIp: boolean;
  readonly data: SubnetSelection;
  /** Whether functions reach AWS's services over IPv6. */
  readonly isDualStack: boolean;

  constructor(scope: Construct, id: string, props: NetworkConstructProps) {
    super(scope, id);
    const { network } = props;
    this.kind = network.kind;
    const isOurs = network.kind === "default" || network.kind === "small";
    this.vpc = isOurs ? (ownVpc(this, network, props.logRetentionDays) as IVpc) : existingVpc(this, network, props);
    this.isDualStack = isOurs;
    this.assignPublicIp = network.kind === "small";
    this.functions = isOurs ? { subnetType: SubnetType.PRIVATE_WITH_EGRESS } : givenSubnets(network, this.vpc);
    this.tasks = network.kind === "small" ? { subnetType: SubnetType.PUBLIC } : this.functions;
    this.data = isOurs ? { subnetType: SubnetType.PRIVATE_ISOLATED } : this.functions;
  }
}

type OwnNetwork = Extract<NetworkProps, { kind: "default" | "small" }>;
type OthersNetwork = Exclude<NetworkProps, OwnNetwork>;

function ownVpc(scope: Construct, network: OwnNetwork, logRetentionDays: number): Vpc {
  const vpc = new Vpc(scope, "Vpc", {
    ...(network.zones === undefined ? zonesByRegion(scope) : { availabilityZones: [...network.zones] }),
    ...(network.cidr === undefined ? {} : { ipAddresses: IpAddresses.cidr(network.cidr) }),
    // Nothing of the stack is in the default group, and closing it would take a function with rights over all groups.
    restrictDefaultSecurityGroup: false,
    // Private subnets reach AWS's services over IPv6, through an egress-only gateway, which is free.
    ipProtocol: IpProtocol.DUAL_STACK,
    natGateways: network.ipv4 === "gateway" ? network.gateways : 0,
    subnetConfiguration: [
      { name: "public", subnetType: SubnetType.PUBLIC, cidrMask: 24, mapPublicIpOnLaunch: false },
      { name: "private", subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 22 },
      { name: "data", subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: 24 },
    ],
    gatewayEndpoints: {
      S3: { service: GatewayVpcEndpointAwsService.S3 },
      DynamoDB: { service: GatewayVpcEndpointAwsService.DYNAMODB },
    },
  });
  // Only what was refused: that is what explains a connection that fails, and it costs next to nothing.
  vpc.addFlowLog("Refused", {
    trafficType: FlowLogTrafficType.REJECT,
    destination: FlowLogDestination.toCloudWatchLogs(
      new LogGroup(scope, "FlowLog", { retention: logRetentionDays }),
      new Role(scope, "FlowLogRole", { assumedBy: forOurOwn("flowLogs") }),
    ),
  });
  if (network.ipv4 === "instance") addNatInstance(scope, vpc, network.imageId);
  return vpc;
}

/** @throws Error where the region is known but not its zones: looking them up would need an account. */
function zonesByRegion(scope: Construct): { maxAzs: number } {
  const { region } = Stack.of(scope);
  if (Token.isUnresolved(region)) return { maxAzs: 2 };
  throw new Error(
    `network.zones is missing: the stack is for ${region}, so name two of its zones, for example ["${region}a", "${region}b"]`,
  );
}

/** Of what the team has and no code names, an SSM parameter each. */
export const teamParameter = (scope: Construct, { system, stage }: DeployedStage, name: string, type: string): string =>
  new CfnParameter(scope, name.replaceAll("-", ""), {
    type: `AWS::SSM::Parameter::Value<${type}>`,
    default: `/belfry/${system}/${stage}/${name}`,
  }).valueAsString;

function existingVpc(scope: Construct, network: OthersNetwork, deployed: DeployedStage): IVpc {
  if (network.kind === "existing") return network.vpc;
  const vpc = Vpc.fromVpcAttributes(scope, "Vpc", {
    // Subnets and security group say where things run; no resource names the VPC itself.
    vpcId: "by-reference",
    availabilityZones: [Fn.select(0, Fn.getAzs()), Fn.select(1, Fn.getAzs())],
    privateSubnetIds: ["subnet-a", "subnet-b"].map((name) =>
      teamParameter(scope, deployed, name, "AWS::EC2::Subnet::Id"),
    ),
  });
  for (const subnet of vpc.privateSubnets) {
    // Route tables are the team's own too; nothing here adds a route.
    Annotations.of(subnet).acknowledgeWarning("@aws-cdk/aws-ec2:noSubnetRouteTableId");
  }
  return vpc;
}

function givenSubnets(network: NetworkProps, vpc: IVpc): SubnetSelection {
  if (network.kind === "existing") return network.subnets ?? { subnetType: SubnetType.PRIVATE_WITH_EGRESS };
  return { subnets: vpc.privateSubnets };
}
