import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a worker launches tasks, and no rule tells when they stop",
  refusedBy: "task-ends",
  plant(template) {
    const worker = first(template, "AWS::Lambda::Function", /Worker/);
    inside(worker.Properties, "Environment", "Variables")["BELFRY_TASKS"] = "{}";
  },
});
