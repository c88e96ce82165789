import { Annotations, CfnParameter, Fn } from "aws-cdk-lib";
import { type ISecurityGroup, type IVpc, SecurityGroup, type SubnetSelection, Vpc } from "aws-cdk-lib/aws-ec2";
import { type ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";

/**
 * The team's own database, by reference: this stack never creates, changes or deletes it.
 * Each reference is an SSM parameter of the account, so that no account's ids are in the code and synth needs none:
 * `/belfry/<stage>/{subnet-a,subnet-b,client-security-group,database-secret-arn}`.
 */
export class Database extends Construct {
  /** A secret whose field `url` is the address of the writer endpoint, with user and password. */
  readonly secret: ISecret;
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  /** What may reach the database; every process of ours runs with it. */
  readonly clients: ISecurityGroup;

  constructor(scope: Construct, id: string, stage: string) {
    super(scope, id);
    const parameter = (name: string, type: string): string =>
      new CfnParameter(this, name.replaceAll("-", ""), {
        type: `AWS::SSM::Parameter::Value<${type}>`,
        default: `/belfry/${stage}/${name}`,
      }).valueAsString;
    this.secret = Secret.fromSecretCompleteArn(this, "Secret", parameter("database-secret-arn", "String"));
    this.vpc = Vpc.fromVpcAttributes(this, "Vpc", {
      // Subnets and security group say where things run; no resource of this stack names the VPC itself.
      vpcId: "by-reference",
      availabilityZones: [Fn.select(0, Fn.getAzs()), Fn.select(1, Fn.getAzs())],
      privateSubnetIds: ["subnet-a", "subnet-b"].map((name) => parameter(name, "AWS::EC2::Subnet::Id")),
    });
    this.subnets = { subnets: this.vpc.privateSubnets };
    for (const subnet of this.vpc.privateSubnets) {
      // Route tables are the team's own too; nothing here adds a route.
      Annotations.of(subnet).acknowledgeWarning("@aws-cdk/aws-ec2:noSubnetRouteTableId");
    }
    const clients = parameter("client-security-group", "AWS::EC2::SecurityGroup::Id");
    this.clients = SecurityGroup.fromSecurityGroupId(this, "Clients", clients, { mutable: false });
  }

  /**
   * The address for a function's environment: a reference that CloudFormation resolves, never the value.
   * Whoever may read the function's configuration can read it.
   */
  get url(): string {
    return this.secret.secretValueFromJson("url").unsafeUnwrap();
  }
}
