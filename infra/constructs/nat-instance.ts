import { Duration, Validations } from "aws-cdk-lib";
import {
  Instance,
  InstanceClass,
  InstanceSize,
  InstanceType,
  type IVpc,
  OperatingSystemType,
  Peer,
  Port,
  RouterType,
  SecurityGroup,
  type Subnet,
  SubnetType,
  UserData,
  type Vpc,
} from "aws-cdk-lib/aws-ec2";
import type { Construct } from "constructs";

const range = "0.0.0.0/0";
const signalMinutes = 10;

/**
 * An instance that forwards IPv4 of the private subnets. The library's own has no public address, installs packages before
 * its route is there, and is replaced with each new image: https://github.com/aws/aws-cdk/issues/31711 and 36717.
 */
export function addNatInstance(scope: Construct, vpc: Vpc, imageId: string): void {
  const group = new SecurityGroup(scope, "NatGroup", {
    vpc: vpc as IVpc,
    description: "Forwards IPv4 of the private subnets",
  });
  group.addIngressRule(Peer.ipv4(vpc.vpcCidrBlock), Port.allTraffic(), "From inside the VPC");
  const userData = UserData.forLinux();
  const instance = new Instance(scope, "Nat", {
    vpc: vpc as IVpc,
    vpcSubnets: { subnetType: SubnetType.PUBLIC },
    // A nano has too little memory to install a package.
    instanceType: InstanceType.of(InstanceClass.T4G, InstanceSize.MICRO),
    machineImage: { getImage: () => ({ imageId, osType: OperatingSystemType.LINUX, userData }) },
    securityGroup: group,
    associatePublicIpAddress: true,
    sourceDestCheck: false,
    requireImdsv2: true,
    resourceSignalTimeout: Duration.minutes(signalMinutes),
  });
  userData.addSignalOnExitCommand(instance);
  userData.addCommands(...forwarding(vpc.vpcCidrBlock));
  // Its first boot needs the way out: the packages come over it, and so does the signal.
  instance.node.addDependency(vpc.internetConnectivityEstablished);
  for (const [index, subnet] of vpc.privateSubnets.entries()) {
    (subnet as Subnet).addRoute(`Ipv4-${index + 1}`, {
      routerId: instance.instanceId,
      routerType: RouterType.INSTANCE,
      destinationCidrBlock: range,
      enablesInternetConnectivity: true,
    });
  }
  acknowledge(instance, group);
}

/** Each line may fail the boot, and with it the deployment; the last one asks AWS for a page. */
const forwarding = (source: string): string[] => [
  "set -euo pipefail",
  // Another package run may hold the lock at boot.
  "for try in 1 2 3 4 5 6; do dnf install --assumeyes nftables && break; sleep 20; done",
  "command -v nft",
  "echo 'net.ipv4.ip_forward = 1' > /etc/sysctl.d/90-nat.conf",
  "sysctl --load /etc/sysctl.d/90-nat.conf",
  "mkdir -p /etc/nftables",
  `echo 'table ip nat { chain out { type nat hook postrouting priority 100; ip saddr ${source} masquerade; } }' > /etc/nftables/nat.nft`,
  `echo 'include "/etc/nftables/nat.nft"' > /etc/sysconfig/nftables.conf`,
  "systemctl enable --now nftables",
  "nft list table ip nat",
  "curl --fail --silent --show-error --retry 5 --retry-all-errors --max-time 10 https://checkip.amazonaws.com/",
];

function acknowledge(instance: Instance, group: SecurityGroup): void {
  Validations.of(instance).acknowledge(
    { id: "AwsSolutions-EC28", reason: "The instance of a cheap stage: its basic monitoring is enough." },
    { id: "AwsSolutions-EC26", reason: "The disk of the instance holds its operating system and no data." },
    { id: "AwsSolutions-EC29", reason: "The instance holds nothing and must go with the stack." },
  );
  Validations.of(group).acknowledge({
    id: "AwsSolutions-EC23",
    reason: "The instance takes traffic from the VPC's own range, which the rule cannot read.",
  });
}
