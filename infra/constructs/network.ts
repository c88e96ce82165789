import { CfnParameter, Fn, Annotations, Stack, Token, Validations } from "aws-cdk-lib";
import {
  FlowLogDestination,
  FlowLogTrafficType,
  GatewayVpcEndpointAwsService,
  InstanceClass,
  InstanceSize,
  InstanceType,
  type IVpc,
  NatProvider,
  NatTrafficDirection,
  Peer,
  Port,
  type SubnetSelection,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";

/** Where a deployment runs. A network of ours spans two zones, because RDS asks for two. */
export type NetworkProps =
  | {
      /** One NAT gateway for both zones. */
      readonly kind: "default";
      /** Names of two zones. Needed where the stack names its region; else CloudFormation takes the first two. */
      readonly zones?: readonly [string, string];
    }
  | {
      /** The cheap one: tasks have public addresses and no inbound, functions go out through a NAT instance. */
      readonly kind: "small";
      readonly zones?: readonly [string, string];
    }
  | {
      /** The team's own. */
      readonly kind: "existing";
      readonly vpc: IVpc;
      /** With a way out to AWS's services. Default: private subnets with egress. */
      readonly subnets?: SubnetSelection;
    }
  | {
      /** The team's own, by SSM parameters `/belfry/<stage>/{subnet-a,subnet-b}`; its database is an existing one too. */
      readonly kind: "by-parameters";
    };

export interface NetworkConstructProps {
  readonly network: NetworkProps;
  readonly stage: string;
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

  constructor(scope: Construct, id: string, props: NetworkConstructProps) {
    super(scope, id);
    const { network } = props;
    this.kind = network.kind;
    const isOurs = network.kind === "default" || network.kind === "small";
    this.vpc = isOurs
      ? (ownVpc(this, network, props.logRetentionDays) as IVpc)
      : existingVpc(this, network, props.stage);
    this.assignPublicIp = network.kind === "small";
    this.functions = isOurs ? { subnetType: SubnetType.PRIVATE_WITH_EGRESS } : givenSubnets(network, this.vpc);
    this.tasks = network.kind === "small" ? { subnetType: SubnetType.PUBLIC } : this.functions;
    this.data = isOurs ? { subnetType: SubnetType.PRIVATE_ISOLATED } : this.functions;
  }
}

type OwnNetwork = Extract<NetworkProps, { kind: "default" | "small" }>;
type OthersNetwork = Exclude<NetworkProps, OwnNetwork>;

function ownVpc(scope: Construct, network: OwnNetwork, logRetentionDays: number): Vpc {
  const isSmall = network.kind === "small";
  const instance = isSmall ? natInstance() : null;
  const vpc = new Vpc(scope, "Vpc", {
    ...(network.zones === undefined ? zonesByRegion(scope) : { availabilityZones: [...network.zones] }),
    // Nothing of ours is in the default group, and closing it would take a function with rights over all groups.
    restrictDefaultSecurityGroup: false,
    natGateways: 1,
    natGatewayProvider: instance ?? NatProvider.gateway(),
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
    destination: FlowLogDestination.toCloudWatchLogs(new LogGroup(scope, "FlowLog", { retention: logRetentionDays })),
  });
  if (instance !== null) {
    instance.securityGroup.addIngressRule(Peer.ipv4(vpc.vpcCidrBlock), Port.allTraffic(), "From inside the VPC");
    acknowledgeNatInstance(vpc);
  }
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

const natInstance = () =>
  NatProvider.instanceV2({
    instanceType: InstanceType.of(InstanceClass.T4G, InstanceSize.NANO),
    defaultAllowedTraffic: NatTrafficDirection.OUTBOUND_ONLY,
  });

function acknowledgeNatInstance(vpc: Vpc): void {
  Validations.of(vpc).acknowledge(
    { id: "AwsSolutions-EC28", reason: "A NAT instance of the cheap stage: its basic monitoring is enough." },
    { id: "AwsSolutions-EC26", reason: "The disk of the NAT instance holds its operating system and nothing of ours." },
    {
      id: "AwsSolutions-EC23",
      reason: "The NAT instance takes traffic from the VPC's own range, which the rule cannot read.",
    },
    { id: "AwsSolutions-EC29", reason: "The NAT instance holds nothing and must go with the stack." },
  );
}

function existingVpc(scope: Construct, network: OthersNetwork, stage: string): IVpc {
  if (network.kind === "existing") return network.vpc;
  const parameter = (name: string, type: string): string =>
    new CfnParameter(scope, name.replaceAll("-", ""), {
      type: `AWS::SSM::Parameter::Value<${type}>`,
      default: `/belfry/${stage}/${name}`,
    }).valueAsString;
  const vpc = Vpc.fromVpcAttributes(scope, "Vpc", {
    // Subnets and security group say where things run; no resource names the VPC itself.
    vpcId: "by-reference",
    availabilityZones: [Fn.select(0, Fn.getAzs()), Fn.select(1, Fn.getAzs())],
    privateSubnetIds: ["subnet-a", "subnet-b"].map((name) => parameter(name, "AWS::EC2::Subnet::Id")),
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
