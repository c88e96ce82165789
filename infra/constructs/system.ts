import { Stack } from "aws-cdk-lib";
import type { Construct, IConstruct } from "constructs";
import { systemName } from "../../src/stage/deployed-api.ts";

/** The stack that is deployed: a nested one is a resource of it. */
export function outermostStack(scope: Construct): Stack {
  const stack = Stack.of(scope);
  return stack.nestedStackParent === undefined ? stack : outermostStack(stack.nestedStackParent);
}

export const isStackProtected = (scope: Construct): boolean => outermostStack(scope).terminationProtection;

/** @throws Error where the name could not be in a metric or a path. */
export function systemOf(scope: Construct, given: string | undefined): string {
  const name = given ?? outermostStack(scope).stackName;
  if (systemName.test(name)) return name;
  throw new Error(
    `system ${JSON.stringify(name)} must be letters, digits and hyphens, beginning with a letter, at most 128: set the prop system`,
  );
}

type Named = Construct & { readonly system: string; readonly topology: { readonly stage: string } };

/** Two of one system and stage in one place would share metrics and parameters. @throws Error naming both. */
export function refuseTwin(belfry: Named, isBelfry: (each: IConstruct) => each is Named & IConstruct): void {
  const { system, topology } = belfry;
  const all = belfry.node.root.node.findAll().filter(isBelfry);
  const twin = all.find(
    (each) =>
      each !== belfry &&
      each.system === system &&
      each.topology.stage === topology.stage &&
      outermostStack(each).environment === outermostStack(belfry).environment,
  );
  if (twin === undefined) return;
  throw new Error(
    `${twin.node.path} and ${belfry.node.path} are both stage "${topology.stage}" of system "${system}" and would share ` +
      "metrics and parameters: give one of them another system",
  );
}
