import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "the NAT instance has no public address, as the library's own has none",
  refusedBy: "reachability",
  at: "Lane-default/Worker",
  saying: /no path to the internet \(BelfryNetworkNat\w+ has no public address/,
  ipv4: "instance",
  plant(template) {
    const { Properties } = first(template, "AWS::EC2::Instance");
    inside(Properties, "NetworkInterfaces", 0)["AssociatePublicIpAddress"] = false;
  },
});
