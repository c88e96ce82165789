import { defineFault, first } from "./fault.ts";

export default defineFault({
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
});
