import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks, ServerlessChecks } from "cdk-nag";
import { Platform } from "aws-cdk-lib/aws-ecr-assets";
import { ContainerImage } from "aws-cdk-lib/aws-ecs";
import { loadFakes } from "../src/apps.ts";
import { openProject, stageNamed } from "../src/project.ts";
import type { Stage } from "../src/stages.ts";
import { BelfryChecks } from "./checks/plugin.ts";
import { type ReleaseCode, releaseCode } from "./code.ts";
import type { FakesProps } from "./constructs/fakes.ts";
import { bundleFunctions, checkedTopology } from "./release.ts";
import { addStage } from "./stack.ts";
import { type Deployment, deploymentOf } from "./stages.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const project = await openProject(`${root}belfry.config.ts`);
const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app), new BelfryChecks());
const bundles = new Map<string, Promise<string>>();

for (const stage of wanted()) {
  const deployment = heard(deploymentOf(stage.name));
  const targets = await loadFakes(project, stage);
  addStage(app, await checkedTopology(project, stage), deployment, {
    code: codeOf(releaseCode(await functionsOf(stage))),
    image: imageOf("image", deployment.image),
    ...(targets.length === 0 ? {} : { fakes: fakesOf(targets, deployment) }),
  });
}
app.synth();

/** `-c stage=NAME` is one stage alone, also one that is not deployed otherwise. */
function wanted(): readonly Stage[] {
  const named: unknown = app.node.tryGetContext("stage");
  if (typeof named === "string") return [stageNamed(project, named)];
  return Object.values(project.stages).filter((stage) => stage.deployed);
}

/** Of exactly its own apps; stages with the same apps share their bundles. */
function functionsOf({ apps }: Stage): Promise<string> {
  const name = apps.join("+");
  const folder = join(app.outdir, `.bundle-${name}`);
  const made = bundles.get(name) ?? bundleFunctions(folder, project, apps).then(() => folder);
  bundles.set(name, made);
  return made;
}

/** `-c release=TEXT` runs the migration again where nothing of it changed, as a test of a second deployment needs. */
function codeOf(code: ReleaseCode): ReleaseCode {
  const release: unknown = app.node.tryGetContext("release");
  return typeof release === "string" ? { ...code, release } : code;
}

/** `-c subscriber=ADDRESS` adds a subscriber of alarms without a change of the code. */
function heard(deployment: Deployment): Deployment {
  const named: unknown = app.node.tryGetContext("subscriber");
  return typeof named === "string" ? { ...deployment, subscribers: [named] } : deployment;
}

function fakesOf(targets: FakesProps["targets"], { fakesImage, judged }: Deployment): FakesProps {
  const image = imageOf("fakes-image", fakesImage, "fakes");
  return { targets, image, command: judged === true ? "judge" : "serve" };
}

/** `-c NAME=URI`, the stage's own, or one that is only hashed at synth and built when it is deployed. */
function imageOf(name: string, own: string | undefined, target?: string): ContainerImage {
  const named: unknown = app.node.tryGetContext(name);
  const image = typeof named === "string" ? named : own;
  if (image !== undefined) return ContainerImage.fromRegistry(image);
  const platform = Platform.LINUX_ARM64;
  return ContainerImage.fromAsset(root, { platform, ...(target === undefined ? {} : { target }) });
}
