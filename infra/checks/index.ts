import type { Check } from "./check.ts";
import { dataChecks } from "./data.ts";
import { queueChecks } from "./queues.ts";
import { reachChecks } from "./reach.ts";
import { securityChecks } from "./security.ts";
import { taskChecks } from "./tasks.ts";

/** What CDK's own validator, cdk-nag and cfn-lint do not see, because it is about this system. */
export const checks: readonly Check[] = [
  ...queueChecks,
  ...taskChecks,
  ...dataChecks,
  ...securityChecks,
  ...reachChecks,
];
