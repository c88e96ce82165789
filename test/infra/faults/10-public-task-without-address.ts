import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a task runs in a public subnet without a public address",
  refusedBy: "public-address",
  plant(template) {
    inside(
      first(template, "AWS::Events::Rule").Properties,
      "Targets",
      0,
      "EcsParameters",
      "NetworkConfiguration",
      "AwsVpcConfiguration",
    )["AssignPublicIp"] = "DISABLED";
  },
});
