import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "the lock table cannot be restored",
  refusedBy: "lock-table",
  at: "Locks/Table",
  saying: /cannot be restored/,
  plant(template) {
    const { Properties } = first(template, "AWS::DynamoDB::GlobalTable");
    delete inside(Properties, "Replicas", 0)["PointInTimeRecoverySpecification"];
  },
});
