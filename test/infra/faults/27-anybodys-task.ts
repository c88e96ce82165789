import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a task's role may be taken for a task of another account",
  refusedBy: "own-source",
  plant(template) {
    const { Properties } = first(template, "AWS::IAM::Role", /SchedulerTaskRole/);
    delete inside(Properties, "AssumeRolePolicyDocument", "Statement", 0)["Condition"];
  },
});
