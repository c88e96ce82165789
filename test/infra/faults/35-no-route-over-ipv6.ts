import { defineFault } from "./fault.ts";

export default defineFault({
  name: "the private subnets have no route to the egress-only gateway",
  refusedBy: "reachability",
  at: "Worker",
  saying: /no path to (rds-db|sqs|secretsmanager) .*no route to an egress-only gateway/,
  plant(template) {
    for (const [id, { Properties }] of Object.entries(template.Resources)) {
      if (Properties?.["EgressOnlyInternetGatewayId"] !== undefined) delete template.Resources[id];
    }
  },
});
