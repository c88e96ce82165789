import { fileURLToPath } from "node:url";
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks, ServerlessChecks } from "cdk-nag";
import { Platform } from "aws-cdk-lib/aws-ecr-assets";
import { ContainerImage } from "aws-cdk-lib/aws-ecs";
import type { Construct } from "constructs";
import { loadFakes } from "../src/compose/apps.ts";
import { openProject, stageNamed } from "../src/stage/project.ts";
import type { Stage } from "../src/stage/stages.ts";
import { bundledRelease } from "./bundled-release.ts";
import { Fakes } from "./constructs/fakes.ts";
import { addStage } from "./stack.ts";
import { deploymentOf } from "./stages.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const project = await openProject(`${root}belfry.config.ts`);
const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));

for (const stage of wanted()) {
  const { image, fakesImage, judged, ...deployment } = deploymentOf(stage.name);
  const subscriber = context("subscriber");
  const targets = await loadFakes(project, stage);
  const command = judged === true ? "judge" : "serve";
  const fakes = (scope: Construct): Fakes =>
    new Fakes(scope, "Fakes", {
      stage: stage.name,
      targets,
      image: imageOf("fakes-image", fakesImage, "fakes"),
      command,
    });
  addStage(app, stage.name, subscriber === null ? deployment : { ...deployment, subscribers: [subscriber] }, {
    project: root,
    image: imageOf("image", image),
    ...(targets.length === 0 ? {} : { fakes }),
    ...released(stage),
  });
}
app.synth();

/** `-c NAME=VALUE` of the CLI: a subscriber, for one, replaces the stage's own without a change of the code. */
function context(name: string): string | null {
  const value: unknown = app.node.tryGetContext(name);
  return typeof value === "string" ? value : null;
}

/** `-c stage=NAME` is one stage alone, also one that is not deployed otherwise. */
function wanted(): readonly Stage[] {
  const named = context("stage");
  return named === null
    ? Object.values(project.stages).filter((stage) => stage.deployed)
    : [stageNamed(project, named)];
}

/** `-c release=TEXT` runs the migration again where nothing of it changed, as a test of a second deployment needs. */
function released({ name }: Stage): object {
  const text = context("release");
  if (text === null) return {};
  const { code, ...release } = bundledRelease(app, { stage: name, project: root });
  return { release: { ...release, code: { ...code, release: text } } };
}

/** `-c NAME=URI`, the stage's own, or one that is only hashed at synth and built when it is deployed. */
function imageOf(name: string, own: string | undefined, target?: string): ContainerImage {
  const image = context(name) ?? own;
  if (image !== undefined) return ContainerImage.fromRegistry(image);
  const platform = Platform.LINUX_ARM64;
  return ContainerImage.fromAsset(root, { platform, ...(target === undefined ? {} : { target }) });
}
