import { Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
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
  new Belfry(stack, "Belfry", { stage, network, database, alarms, spotPasses, tags, ...heard, ...own });
  return stack;
}
