import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "the rules' role may be taken for a rule of another account",
  refusedBy: "own-source",
  plant(template) {
    const { Properties } = first(template, "AWS::IAM::Role", /WakeRole/);
    delete inside(Properties, "AssumeRolePolicyDocument", "Statement", 0)["Condition"];
  },
});
