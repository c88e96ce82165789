import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "the scheduler's task runs in a subnet without IPv4, where it cannot fetch its image",
  refusedBy: "reachability",
  at: "Scheduler/Task",
  saying: /no path to ecr .*has no default route/,
  plant(template) {
    const rule = first(template, "AWS::Events::Rule", /Wakepass/).Properties;
    const subnets = Object.keys(template.Resources).filter((id) => /privateSubnet\dSubnet/.test(id));
    inside(rule, "Targets", 0, "EcsParameters", "NetworkConfiguration", "AwsVpcConfiguration")["Subnets"] = subnets.map(
      (id) => ({ Ref: id }),
    );
  },
});
