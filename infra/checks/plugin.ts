import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  CfnResource,
  type IPolicyValidationContext,
  type IPolicyValidationPlugin,
  type PolicyValidationPluginReport,
  type PolicyViolation,
  Stack,
  Validations,
} from "aws-cdk-lib";
import type { Construct, IConstruct } from "constructs";
import { outermostStack } from "../constructs/system.ts";
import { findings } from "./index.ts";
import { linkStacks, type Nested } from "./link-stacks.ts";
import { reachOf } from "./reach.ts";
import { pathOf, type Template } from "./template.ts";

const known = new WeakMap<IConstruct, BelfryChecks>();

/** The checks are about what Belfry makes: a stack may hold anything beside it. */
export function checkAtSynthesis(belfry: Construct): void {
  const { root } = belfry.node;
  const plugin = known.get(root) ?? new BelfryChecks();
  plugin.subjects.push(belfry);
  if (known.has(root)) return;
  known.set(root, plugin);
  Validations.of(root).addPlugins(plugin);
}

/** A finding fails the synthesis. One rule is taken back by `Validations.of(belfry).acknowledge`, all by the prop `checks`. */
class BelfryChecks implements IPolicyValidationPlugin {
  readonly name = "Belfry";
  readonly subjects: Construct[] = [];

  validate({ stackTemplates, appConstruct }: IPolicyValidationContext): PolicyValidationPluginReport {
    const stacks = appConstruct.node.findAll().filter((each) => Stack.isStack(each));
    const templates = stacks.flatMap((stack) => {
      const place = stackTemplates.find(({ stackConstructPath: path }) => path === outermostStack(stack).node.path);
      if (place === undefined) return [];
      const templatePath = join(dirname(place.templatePath), stack.templateFile);
      const { stackName, node } = stack;
      const { region } = place;
      return [
        { path: node.path, stackName, region, nested: placeOf(stack), templatePath, template: read(templatePath) },
      ];
    });
    const violations = this.subjects.flatMap((belfry) => {
      const own = templates.find(({ path }) => path === Stack.of(belfry).node.path);
      if (own === undefined) return [];
      const others = templates.filter((each) => each !== own);
      const beside = this.subjects.filter((each) => each !== belfry && Stack.of(each) === Stack.of(belfry));
      return violationsOf(belfry, without(linkStacks(own, others), beside), own.templatePath);
    });
    return { success: violations.every(({ severity }) => severity !== "error"), violations };
  }
}

function placeOf({ nestedStackParent: parent, nestedStackResource: resource }: Stack): Nested | undefined {
  if (parent === undefined || !(resource instanceof CfnResource)) return undefined;
  return { path: parent.node.path, logicalId: String(parent.resolve(resource.logicalId)) };
}

const read = (path: string): Template => JSON.parse(readFileSync(path, "utf8")) as Template;

/** A system is checked by itself: another one of its stack has a migration and connections of its own. */
function without(template: Template, systems: readonly Construct[]): Template {
  const ids = new Set(systems.flatMap((each) => [...logicalIds(each)]));
  const kept = Object.entries(template.Resources).filter(([id]) => !ids.has(id));
  return { ...template, Resources: Object.fromEntries(kept) };
}

function logicalIds(belfry: Construct): ReadonlySet<string> {
  const resources = belfry.node.findAll().filter((each) => CfnResource.isCfnResource(each));
  return new Set(resources.map(({ logicalId }) => String(Stack.of(belfry).resolve(logicalId))));
}

function violationsOf(belfry: Construct, template: Template, templatePath: string): readonly PolicyViolation[] {
  const own = logicalIds(belfry);
  const isOurs = ({ resource }: { readonly resource: string }): boolean =>
    own.has(resource) || !Object.hasOwn(template.Resources, resource);
  const violation = (ruleName: string, description: string, severity: string, ids: readonly string[] = []) => ({
    ruleName,
    description,
    severity,
    violatingResources: ids.map((resourceLogicalId) => ({ resourceLogicalId, templatePath, locations: [] })),
  });
  const found = findings(template).flatMap(({ check: { id, rule }, found: all }) => {
    const ours = all.filter(isOurs);
    if (ours.length === 0) return [];
    const details = ours.map(({ resource, detail }) => `${pathOf(template, resource)}: ${detail}`).join("; ");
    const ids = ours.map(({ resource }) => resource);
    return [violation(id, `${rule} (${details})`, "error", ids)];
  });
  const { undecided, undecidedCalls } = reachOf(template);
  const first = undecided.find((resource) => isOurs({ resource }));
  if (first === undefined) return found;
  const said = `the routes of its subnets are in no template of this app that is read. From them it calls ${undecidedCalls.join(", ")}`;
  return [...found, violation("reachability-unknown", `${belfry.node.path}: ${said}`, "info", [first])];
}
