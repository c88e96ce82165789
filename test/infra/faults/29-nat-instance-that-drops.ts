import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "the NAT instance drops packets that are not for itself",
  refusedBy: "reachability",
  at: "Lane-default/Worker",
  saying: /drops what is not for itself/,
  ipv4: "instance",
  plant(template) {
    first(template, "AWS::EC2::Instance").Properties["SourceDestCheck"] = true;
  },
});
