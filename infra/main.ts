import { fileURLToPath } from "node:url";
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks, ServerlessChecks } from "cdk-nag";
import { Platform } from "aws-cdk-lib/aws-ecr-assets";
import { ContainerImage } from "aws-cdk-lib/aws-ecs";
import { loadApps, loadStandIns } from "../src/apps.ts";
import { checkApps } from "../src/core/define/check.ts";
import { ProblemsFound } from "../src/core/define/problem.ts";
import { type Stage, stageNamed, stageNames, stages } from "../src/stages.ts";
import { checkTopology, topology, type Topology } from "../src/topology.ts";
import { checkSettings, missingSettings } from "../src/lane-settings.ts";
import { BelfryChecks } from "./checks/plugin.ts";
import { bundleFunctions, type ReleaseCode, releaseCode } from "./code.ts";
import type { StandInsProps } from "./constructs/stand-ins.ts";
import { addStage } from "./stack.ts";
import { type Deployment, deploymentOf } from "./stages.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app), new BelfryChecks());
const folders = await bundleFunctions(app.outdir);

for (const stage of wanted()) {
  const deployment = heard(deploymentOf(stage.name));
  const targets = await loadStandIns(stage);
  addStage(app, await checkedTopology(stage), deployment, {
    code: codeOf(releaseCode(folders)),
    image: imageOf("image", deployment.image),
    ...(targets.length === 0 ? {} : { standIns: standInsOf(targets, deployment) }),
  });
}
app.synth();

/** `-c stage=NAME` is one stage alone, also one that is not deployed otherwise. */
function wanted(): readonly Stage[] {
  const named: unknown = app.node.tryGetContext("stage");
  if (typeof named === "string") return [stageNamed(named)];
  return Object.values<Stage>(stages).filter((stage) => stage.deployed);
}

/** `-c release=TEXT` runs the migration again where nothing of it changed, as a test of a second deployment needs. */
function codeOf(code: ReleaseCode): ReleaseCode {
  const release: unknown = app.node.tryGetContext("release");
  return typeof release === "string" ? { ...code, release } : code;
}

/** `-c subscriber=ADDRESS` says who is told of alarms, without a line in the code. */
function heard(deployment: Deployment): Deployment {
  const named: unknown = app.node.tryGetContext("subscriber");
  return typeof named === "string" ? { ...deployment, subscribers: [named] } : deployment;
}

/** What `check` refuses is not synthesized either. */
async function checkedTopology(stage: Stage): Promise<Topology> {
  const apps = await loadApps(stage);
  const all = topology(apps, stage);
  const problems = [
    ...checkApps(apps, stage.name, stageNames),
    ...checkTopology(all),
    ...checkSettings(stage, all.lanes),
    ...missingSettings(stage.name, all.lanes),
  ];
  if (problems.length > 0) throw new ProblemsFound(problems);
  return all;
}

function standInsOf(targets: StandInsProps["targets"], { standInsImage, judged }: Deployment): StandInsProps {
  const image = imageOf("stand-ins-image", standInsImage, "stand-ins");
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
