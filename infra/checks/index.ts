import type { Check, Finding } from "./check.ts";
import { dataChecks } from "./data.ts";
import { keyChecks } from "./keys.ts";
import { queueChecks } from "./queues.ts";
import { reachChecks } from "./reach.ts";
import { securityChecks } from "./security.ts";
import { taskChecks } from "./tasks.ts";
import { apart, type Template } from "./template.ts";

/** What CDK's own validator, cdk-nag and cfn-lint do not see, because it is about this system. */
export const checks: readonly Check[] = [
  ...queueChecks,
  ...taskChecks,
  ...dataChecks,
  ...keyChecks,
  ...securityChecks,
  ...reachChecks,
];

/** What is wrong, by the check that says so; of each stage of the template alone. */
export function findings(template: Template): readonly { readonly check: Check; readonly found: readonly Finding[] }[] {
  const stages = apart(template);
  return checks.flatMap((check) => {
    // What belongs to no stage is looked at with each.
    const found = new Map(
      stages.flatMap((stage) => check.find(stage)).map((each) => [`${each.resource} ${each.detail}`, each]),
    );
    return found.size === 0 ? [] : [{ check, found: [...found.values()] }];
  });
}
