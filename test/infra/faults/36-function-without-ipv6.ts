import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a function of a subnet without IPv4 may not use IPv6",
  refusedBy: "reachability",
  at: "Worker",
  saying: /no path to sqs .*Ipv6AllowedForDualStack/,
  plant(template) {
    inside(first(template, "AWS::Lambda::Function", /Worker/).Properties, "VpcConfig")["Ipv6AllowedForDualStack"] =
      false;
  },
});
