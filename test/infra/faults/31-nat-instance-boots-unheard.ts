import { defineFault } from "./fault.ts";

export default defineFault({
  name: "the NAT instance's boot may fail and nothing tells CloudFormation",
  refusedBy: "boot-signal",
  at: "Network/Nat",
  saying: /signals nothing/,
  ipv4: "instance",
  plant(template) {
    const [nat] = Object.values(template.Resources).filter(({ Type }) => Type === "AWS::EC2::Instance");
    delete nat?.CreationPolicy;
  },
});
