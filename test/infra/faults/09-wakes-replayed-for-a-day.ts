import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a wake is delivered for a day by EventBridge's default",
  refusedBy: "stale-wakes",
  plant(template) {
    delete inside(first(template, "AWS::Events::Rule").Properties, "Targets", 0)["RetryPolicy"];
  },
});
