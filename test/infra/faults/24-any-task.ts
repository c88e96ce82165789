import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a rule may start its task in any cluster",
  refusedBy: "run-task",
  plant(template) {
    const { Properties } = first(template, "AWS::IAM::Policy", /WakeRole/);
    delete inside(Properties, "PolicyDocument", "Statement", 0)["Condition"];
  },
});
