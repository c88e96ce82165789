import { defineFault } from "./fault.ts";

export default defineFault({
  name: "a worker of the release may run before its schema is there",
  refusedBy: "migration-first",
  plant(template) {
    for (const [id, resource] of Object.entries(template.Resources)) {
      if (/Worker/.test(id) && resource.Type === "AWS::Lambda::Function") resource.DependsOn = [];
    }
  },
});
