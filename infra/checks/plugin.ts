import { readFileSync } from "node:fs";
import type { IPolicyValidationContext, IPolicyValidationPlugin, PolicyValidationPluginReport } from "aws-cdk-lib";
import { checks, findings } from "./index.ts";
import { pathOf, type Template } from "./template.ts";

/** Our own checks as a validation of every synthesis: a finding fails it. @beta */
export class BelfryChecks implements IPolicyValidationPlugin {
  readonly name = "Belfry";
  readonly ruleIds = checks.map(({ id }) => id);

  validate({ templatePaths }: IPolicyValidationContext): PolicyValidationPluginReport {
    const violations = templatePaths.flatMap((templatePath) => {
      const template = JSON.parse(readFileSync(templatePath, "utf8")) as Template;
      return findings(template).map(({ check: { id, rule }, found }) => {
        const violatingResources = found.map(({ resource, detail }) => ({
          resourceLogicalId: resource,
          templatePath,
          locations: [detail],
        }));
        const details = found.map(({ resource, detail }) => `${pathOf(template, resource)}: ${detail}`).join("; ");
        return { ruleName: id, description: `${rule} (${details})`, severity: "error", violatingResources };
      });
    });
    return { success: violations.length === 0, violations };
  }
}
