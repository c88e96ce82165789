import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a wake that could not start a task leaves no trace",
  refusedBy: "rule-dead-letters",
  plant(template) {
    delete inside(first(template, "AWS::Events::Rule").Properties, "Targets", 0)["DeadLetterConfig"];
  },
});
