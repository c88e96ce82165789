import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a worker may do anything with any queue",
  refusedBy: "AwsSolutions-IAM5",
  plant(template) {
    const { Properties } = first(template, "AWS::IAM::Policy", /Worker/);
    Object.assign(inside(Properties, "PolicyDocument", "Statement", 0), { Action: "sqs:*", Resource: "*" });
  },
});
