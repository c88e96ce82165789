import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Platform } from "aws-cdk-lib/aws-ecr-assets";
import { ContainerImage, FargateTaskDefinition } from "aws-cdk-lib/aws-ecs";
import { Stack } from "aws-cdk-lib";
import { expect, test } from "vitest";
import { type ImageAssets, wrongPlatforms } from "../../infra/checks/images.ts";
import { imageSources } from "../../infra/image-sources.ts";
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

test("an image starts from a base that is pinned by its digest, and takes in what has the pinned sum", () => {
  const dockerfile = readFileSync(new URL("../../Dockerfile", import.meta.url), "utf8");
  const given = Object.fromEntries(
    [...dockerfile.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]),
  );
  expect(given).toEqual({
    NODE_IMAGE: imageSources.node,
    RDS_AUTHORITIES: imageSources.rdsAuthorities,
    RDS_AUTHORITIES_SHA256: imageSources.rdsAuthoritiesSha256,
  });
  expect(imageSources.node).toMatch(/@sha256:[0-9a-f]{64}$/);
  const bases = [...dockerfile.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm)].map(([, base]) => base);
  expect(new Set(bases)).toEqual(new Set(["${NODE_IMAGE}", "build"]));
});

/** A folder that ADD makes gets the mode of the file: only root could enter it. */
test("no file with a mode of its own is added into a folder that is not there yet", () => {
  const dockerfile = readFileSync(new URL("../../Dockerfile", import.meta.url), "utf8");
  const added = [...dockerfile.matchAll(/^(?:ADD|COPY) .*--chmod=\d+ .* (\S+)$/gm)].map(([, target]) => target);
  expect(added).toEqual(["rds-ca.pem"]);
});
