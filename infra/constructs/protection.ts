import type { Construct } from "constructs";
import type { Topology } from "../../src/stage/topology.ts";
import { requireSubscribers, type Subscribers } from "./alarm-subscribers.ts";
import type { Topics } from "./alarm-topics.ts";
import { outermostStack } from "./system.ts";

export const isStackProtected = (scope: Construct): boolean => outermostStack(scope).terminationProtection;

/**
 * A stack with termination protection is one that people rely on, so its alarms reach someone. Topics of the team's own
 * have subscribers of their own. @throws Error naming what it lacks.
 */
export function requireWhatProtectedNeeds(
  scope: Construct,
  topology: Topology,
  { topics, subscribers }: { readonly topics?: Topics; readonly subscribers?: Subscribers },
): void {
  if (topics === undefined) requireSubscribers(topology.stage, isStackProtected(scope), subscribers);
}
