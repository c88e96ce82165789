import { Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { Topology } from "../src/topology.ts";
import { requireSubscribers } from "./constructs/alarm-subscribers.ts";
import { Belfry, type BelfryProps } from "./constructs/belfry.ts";
import type { Deployment } from "./stages.ts";

/** One stage, alone in a stack that is named by it. @throws Error naming what a protected stage lacks. */
export function addStage(
  scope: Construct,
  stage: string,
  { env, terminationProtection, network, database, alarms, subscribers, spotPasses = false, tags }: Deployment,
  own: Pick<BelfryProps, "project" | "release" | "image" | "fakes">,
): Stack {
  requireSubscribers(stage, terminationProtection, subscribers);
  const description = `Belfry, stage ${stage}`;
  const stack = new Stack(scope, `belfry-${stage}`, { description, terminationProtection, ...(env && { env }) });
  const heard = subscribers === undefined ? {} : { subscribers };
  const belfry = new Belfry(stack, "Belfry", { stage, network, database, alarms, spotPasses, tags, ...heard, ...own });
  requireOperators(belfry.topology, terminationProtection);
  return stack;
}

/** A deployment that is protected because people rely on it has to say who may change things. */
function requireOperators({ stage, namesOperators }: Topology, isProtected: boolean): void {
  if (!isProtected || namesOperators) return;
  throw new Error(
    `stage "${stage}" has termination protection and every signed caller may change things: add operators: ` +
      `["arn:aws:sts::*:assumed-role/Operators/*"] to it in belfry.config.ts; [] lets no one`,
  );
}
