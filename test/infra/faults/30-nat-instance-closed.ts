import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "the NAT instance's group lets nothing in",
  refusedBy: "reachability",
  at: "Lane-default/Worker",
  saying: /the group of BelfryNetworkNat\w+ lets nothing in/,
  ipv4: "instance",
  plant(template) {
    delete first(template, "AWS::EC2::SecurityGroup", /NatGroup/).Properties["SecurityGroupIngress"];
  },
});
