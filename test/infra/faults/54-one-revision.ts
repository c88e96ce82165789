import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a rule may start only the newest revision of its task, while the rule itself still names the one before",
  refusedBy: "run-task",
  saying: /one revision/,
  plant(template) {
    const { Properties } = first(template, "AWS::IAM::Policy", /WakeRole/);
    inside(Properties, "PolicyDocument", "Statement", 0)["Resource"] = { Ref: "BelfrySchedulerTask" };
  },
});
