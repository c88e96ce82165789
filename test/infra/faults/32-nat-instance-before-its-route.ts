import { defineFault } from "./fault.ts";

export default defineFault({
  name: "the NAT instance boots before its subnet has a route",
  refusedBy: "boot-signal",
  at: "Network/Nat",
  saying: /before its route/,
  ipv4: "instance",
  plant(template) {
    const [nat] = Object.values(template.Resources).filter(({ Type }) => Type === "AWS::EC2::Instance");
    if (nat !== undefined) nat.DependsOn = [];
  },
});
