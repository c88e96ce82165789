import { defineFault } from "./fault.ts";

export default defineFault({
  name: "there is no endpoint for DynamoDB, whose lock is called over IPv4",
  refusedBy: "reachability",
  at: "Worker",
  saying: /no path to dynamodb \(endpoint: none/,
  plant(template) {
    for (const id of Object.keys(template.Resources)) {
      if (/VpcDynamoDB/.test(id)) delete template.Resources[id];
    }
  },
});
