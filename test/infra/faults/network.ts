import { type Fault, first, inside, removes, sets } from "./fault.ts";

export const network: readonly Fault[] = [
  {
    name: "the NAT instance drops packets that are not for itself",
    refusedBy: "reachability",
    at: "Lane-default/Worker",
    saying: /drops what is not for itself/,
    ipv4: "instance",
    plant: sets("AWS::EC2::Instance", "SourceDestCheck", true),
  },
  {
    name: "the NAT instance's group lets nothing in",
    refusedBy: "reachability",
    at: "Lane-default/Worker",
    saying: /the group of BelfryNetworkNat\w+ lets nothing in/,
    ipv4: "instance",
    plant: sets("AWS::EC2::SecurityGroup", "SecurityGroupIngress", undefined, /NatGroup/),
  },
  {
    name: "the NAT instance's boot may fail and CloudFormation never hears",
    refusedBy: "boot-signal",
    at: "Network/Nat",
    saying: /signals nothing/,
    ipv4: "instance",
    plant(template) {
      const [nat] = Object.values(template.Resources).filter(({ Type }) => Type === "AWS::EC2::Instance");
      delete nat?.CreationPolicy;
    },
  },
  {
    name: "the NAT instance boots before its subnet has a route",
    refusedBy: "boot-signal",
    at: "Network/Nat",
    saying: /before its route/,
    ipv4: "instance",
    plant(template) {
      const [nat] = Object.values(template.Resources).filter(({ Type }) => Type === "AWS::EC2::Instance");
      if (nat !== undefined) nat.DependsOn = [];
    },
  },
  {
    name: "a NAT gateway has no public address",
    refusedBy: "reachability",
    at: "Lane-default/Worker",
    saying: /has no public address/,
    ipv4: "gateway",
    plant: sets("AWS::EC2::NatGateway", "AllocationId", undefined),
  },
  {
    name: "a NAT gateway is in a subnet without a way out of its own",
    refusedBy: "reachability",
    at: "Lane-default/Worker",
    saying: /behind \w+NATGateway\w* the default route leads nowhere/,
    ipv4: "gateway",
    plant(template) {
      const { Properties } = first(template, "AWS::EC2::NatGateway");
      const [data] = Object.keys(template.Resources).filter((id) => /dataSubnet1Subnet/.test(id));
      Properties["SubnetId"] = { Ref: data };
    },
  },
  {
    name: "the private subnets have no route to the egress-only gateway",
    refusedBy: "reachability",
    at: "Worker",
    saying: /have no way out, so endpoints are missing: ecs, sqs/,
    plant(template) {
      for (const [id, { Properties }] of Object.entries(template.Resources)) {
        if (Properties?.["EgressOnlyInternetGatewayId"] !== undefined) delete template.Resources[id];
      }
    },
  },
  {
    name: "a function of a subnet without IPv4 may not use IPv6",
    refusedBy: "reachability",
    at: "Worker",
    saying: /no path to sqs .*sqs is not called over it/,
    plant: sets("AWS::Lambda::Function", "VpcConfig.Ipv6AllowedForDualStack", false, /Worker/),
  },
  {
    name: "a function calls AWS's services by names that have IPv4 only",
    refusedBy: "reachability",
    at: "Worker",
    saying: /no path to sqs .*sqs is not called over it/,
    plant: sets("AWS::Lambda::Function", "Environment.Variables.BELFRY_DUALSTACK", undefined, /Worker/),
  },
  {
    name: "a handler publishes to SNS by its client's usual name, which has IPv4 only",
    refusedBy: "reachability",
    at: "Worker",
    saying: /no path to sns .*AWS_USE_DUALSTACK_ENDPOINT=true of their lane/,
    plant(template) {
      const policy = first(template, "AWS::IAM::Policy", /Worker/).Properties;
      const statements = inside(policy, "PolicyDocument")["Statement"] as unknown[];
      statements.push({ Effect: "Allow", Action: "sns:Publish", Resource: "arn:aws:sns:eu-west-1:1:a" });
    },
  },
  {
    name: "the processes' security group lets nothing out over IPv6, as the library's own default",
    refusedBy: "reachability",
    at: "Worker",
    saying: /no path to sqs .*IPv6: its security group does not let port 443 out/,
    plant: sets(
      "AWS::EC2::SecurityGroup",
      "SecurityGroupEgress",
      [{ CidrIp: "0.0.0.0/0", IpProtocol: "-1" }],
      /Clients/,
    ),
  },
  {
    name: "the processes' security group does not let them out to the database",
    refusedBy: "reachability",
    at: "Worker",
    saying: /no path to database \(its security group does not let port 5432 out/,
    plant: removes(/Clients/, "AWS::EC2::SecurityGroupEgress"),
  },
  {
    name: "the gateway endpoint of DynamoDB is not on the private subnets' routes",
    refusedBy: "reachability",
    at: "Worker",
    saying: /no path to dynamodb \(endpoint: .* is not on the routes/,
    plant: sets("AWS::EC2::VPCEndpoint", "RouteTableIds", [], /DynamoDB/),
  },
  {
    name: "there is no endpoint for DynamoDB, whose lock is called over IPv4",
    refusedBy: "reachability",
    at: "Worker",
    saying: /no path to dynamodb \(endpoint: none/,
    plant: removes(/VpcDynamoDB/),
  },
  {
    name: "the database's group does not let the processes in",
    refusedBy: "reachability",
    at: "Worker",
    saying: /no path to database/,
    plant: removes(/Server/, "AWS::EC2::SecurityGroupIngress"),
  },
  {
    name: "the database's group lets the processes in at another port",
    refusedBy: "reachability",
    at: "Worker",
    saying: /no path to database/,
    plant(template) {
      Object.assign(first(template, "AWS::EC2::SecurityGroupIngress", /Server/).Properties, {
        FromPort: 5433,
        ToPort: 5433,
      });
    },
  },
  {
    name: "the internet gateway is attached to no VPC",
    refusedBy: "reachability",
    at: "Scheduler/Task",
    saying: /no path to ecr.api .*is attached to no VPC/,
    plant: removes(/^/, "AWS::EC2::VPCGatewayAttachment"),
  },
  {
    name: "the scheduler's task runs in a subnet without IPv4, where it cannot fetch its image",
    refusedBy: "reachability",
    at: "Scheduler/Task",
    saying: /no path to ecr.dkr .*has no default route/,
    plant(template) {
      const rule = first(template, "AWS::Events::Rule", /Wakepass/).Properties;
      const subnets = Object.keys(template.Resources).filter((id) => /privateSubnet\dSubnet/.test(id));
      inside(rule, "Targets", 0, "EcsParameters", "NetworkConfiguration", "AwsVpcConfiguration")["Subnets"] =
        subnets.map((id) => ({ Ref: id }));
    },
  },
];
