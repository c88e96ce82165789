import { Stack } from "aws-cdk-lib";
import { Key } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import { Belfry } from "./constructs/belfry.ts";
import type { BelfryProps } from "./constructs/belfry-props.ts";
import type { Deployment } from "./stages.ts";

/** One stage, alone in a stack that is named by it. */
export function addStage(
  scope: Construct,
  stage: string,
  { env, terminationProtection, encryptionKeyArn, connect, image: _image, ...deployment }: Deployment,
  own: Pick<BelfryProps, "project" | "release" | "image" | "fakes">,
): Stack {
  const description = `Belfry, stage ${stage}`;
  const stack = new Stack(scope, `belfry-${stage}`, { description, terminationProtection, ...(env && { env }) });
  const key = encryptionKeyArn && { encryptionKey: Key.fromKeyArn(stack, "Key", encryptionKeyArn) };
  const belfry = new Belfry(stack, "Belfry", { stage, ...deployment, ...key, ...own });
  connect?.(belfry);
  return stack;
}
