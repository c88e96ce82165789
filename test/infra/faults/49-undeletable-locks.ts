import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "the lock table refuses the rollback of a first deployment",
  refusedBy: "first-deployment",
  at: "Locks/Table",
  plant(template) {
    const { Properties } = first(template, "AWS::DynamoDB::GlobalTable");
    inside(Properties, "Replicas", 0)["DeletionProtectionEnabled"] = true;
  },
});
