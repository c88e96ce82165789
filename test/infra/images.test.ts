import { fileURLToPath } from "node:url";
import { Platform } from "aws-cdk-lib/aws-ecr-assets";
import { ContainerImage, FargateTaskDefinition } from "aws-cdk-lib/aws-ecs";
import { Stack } from "aws-cdk-lib";
import { expect, test } from "vitest";
import { type ImageAssets, wrongPlatforms } from "../../infra/checks/images.ts";
import { newApp } from "./synthesize.ts";

const folder = fileURLToPath(new URL("faults/", import.meta.url));

/** The assets of a stack whose task has an image that is built so. */
function assetsWith(platform?: Platform): ImageAssets {
  const app = newApp();
  const stack = new Stack(app, "test");
  const image = ContainerImage.fromAsset(folder, { file: "fault.ts", ...(platform === undefined ? {} : { platform }) });
  new FargateTaskDefinition(stack, "Task").addContainer("A", { image });
  const [artifact] = app.synth().artifacts.filter(({ id }) => id === "test.assets");
  if (artifact === undefined || !("contents" in artifact)) throw new Error("the stack has no assets");
  return artifact.contents as ImageAssets;
}

test("an image for another architecture than that of functions and tasks is found, and one that leaves it to its builder", () => {
  expect(wrongPlatforms(assetsWith(Platform.LINUX_ARM64))).toEqual([]);
  expect(wrongPlatforms(assetsWith(Platform.LINUX_AMD64))).toEqual(["linux/amd64"]);
  expect(wrongPlatforms(assetsWith())).toEqual(["the builder's own"]);
});
