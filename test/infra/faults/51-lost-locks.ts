import { defineFault } from "./fault.ts";

export default defineFault({
  name: "the lock table goes with its stack",
  refusedBy: "lock-table",
  at: "Locks/Table",
  saying: /DeletionPolicy Delete/,
  plant(template) {
    const [table] = Object.values(template.Resources).filter(({ Type }) => Type === "AWS::DynamoDB::GlobalTable");
    delete table?.DeletionPolicy;
  },
});
