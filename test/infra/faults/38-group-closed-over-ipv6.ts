import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "the processes' security group lets nothing out over IPv6, as the library's own default",
  refusedBy: "reachability",
  at: "Worker",
  saying: /no path to sqs .*IPv6: its security group does not let port 443 out/,
  plant(template) {
    const { Properties } = first(template, "AWS::EC2::SecurityGroup", /Clients/);
    Properties["SecurityGroupEgress"] = [{ CidrIp: "0.0.0.0/0", IpProtocol: "-1" }];
  },
});
