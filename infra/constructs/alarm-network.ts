import { CfnAutoScalingGroup } from "aws-cdk-lib/aws-autoscaling";
import { CfnInstance, CfnNatGateway } from "aws-cdk-lib/aws-ec2";
import type { Construct } from "constructs";
import type { AlarmChoices } from "./alarm-choices.ts";
import { type AlarmMaker, awsMetric } from "./alarm-maker.ts";

/** Whatever the network's way out is made of; a network without one, or of others, has no such alarm. */
export function addNetworkAlarms(maker: AlarmMaker, choices: AlarmChoices, network: Construct): void {
  const about = { page: true, section: "way-out" } as const;
  let number = 0;
  for (const part of network.node.findAll()) {
    const metric = metricOf(part);
    if (metric === null) continue;
    number += 1;
    maker.add(`WayOut-${number}`, choices.wayOutFailures, { ...about, metric, what: "The way out of the VPC fails" });
  }
}

function metricOf(part: unknown) {
  if (part instanceof CfnInstance) {
    return awsMetric("AWS/EC2", "StatusCheckFailed", "Maximum", { InstanceId: part.ref });
  }
  if (part instanceof CfnAutoScalingGroup) {
    return awsMetric("AWS/EC2", "StatusCheckFailed", "Maximum", { AutoScalingGroupName: part.ref });
  }
  if (part instanceof CfnNatGateway) {
    return awsMetric("AWS/NATGateway", "ErrorPortAllocation", "Sum", { NatGatewayId: part.ref });
  }
  return null;
}
