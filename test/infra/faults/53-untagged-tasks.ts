import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "the scheduler's tasks carry no tags",
  refusedBy: "tagged-tasks",
  at: "Scheduler/Wake-pass",
  plant(template) {
    delete inside(first(template, "AWS::Events::Rule", /Wakepass/).Properties, "Targets", 0, "EcsParameters")[
      "PropagateTags"
    ];
  },
});
