import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "a NAT gateway has no public address",
  refusedBy: "reachability",
  at: "Lane-default/Worker",
  saying: /has no public address/,
  ipv4: "gateway",
  plant(template) {
    delete first(template, "AWS::EC2::NatGateway").Properties["AllocationId"];
  },
});
