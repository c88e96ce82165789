import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a rule may pass on any role",
  refusedBy: "pass-role",
  plant(template) {
    const { Properties } = first(template, "AWS::IAM::Policy", /WakeRole/);
    inside(Properties, "PolicyDocument", "Statement", 1)["Resource"] = "*";
  },
});
