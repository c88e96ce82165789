import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { App, Tags } from "aws-cdk-lib";
import { Platform } from "aws-cdk-lib/aws-ecr-assets";
import { ContainerImage } from "aws-cdk-lib/aws-ecs";
import { Code } from "aws-cdk-lib/aws-lambda";
import { loadApps } from "../src/apps.ts";
import { checkApps } from "../src/core/definitions/check.ts";
import { ProblemsFound } from "../src/core/definitions/problem.ts";
import { type Stage, stageNames, stages } from "../src/stages.ts";
import { checkTopology, topology, type Topology } from "../src/topology.ts";
import { bundle } from "./bundle.ts";
import { BelfryStack } from "./stack.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const app = new App();
const outdir = app.outdir;
const deployed: readonly Stage[] = Object.values(stages).filter((stage) => stage.deployed);
const bundles = { worker: functionBundle("worker"), deadLetter: functionBundle("dead-letter") };
// Only hashed at synth; built when it is deployed.
const image = ContainerImage.fromAsset(root, { platform: Platform.LINUX_ARM64 });

for (const stage of deployed) {
  const code = { worker: Code.fromAsset(bundles.worker), deadLetter: Code.fromAsset(bundles.deadLetter) };
  const stack = new BelfryStack(app, `belfry-${stage.name}`, { topology: await checkedTopology(stage), code, image });
  Tags.of(stack).add("belfry:stage", stage.name);
}
app.synth();

/** What `check` refuses is not synthesized either. */
async function checkedTopology(stage: Stage): Promise<Topology> {
  const apps = await loadApps(stage);
  const all = topology(apps, stage);
  const problems = [...checkApps(apps, stage.name, stageNames), ...checkTopology(all)];
  if (problems.length > 0) throw new ProblemsFound(problems);
  return all;
}

/** @returns the folder with the one file. */
function functionBundle(name: string): string {
  const folder = join(outdir, `.bundle-${name}`);
  mkdirSync(folder, { recursive: true });
  bundle(`functions/${name}.ts`, join(folder, "index.mjs"));
  return folder;
}
