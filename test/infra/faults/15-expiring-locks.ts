import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "items of the lock table expire",
  refusedBy: "lock-table",
  plant(template) {
    const { Properties } = first(template, "AWS::DynamoDB::GlobalTable");
    Properties["TimeToLiveSpecification"] = { AttributeName: "expires", Enabled: true };
  },
});
