import { readFileSync } from "node:fs";
import { App } from "aws-cdk-lib";
import { ContainerImage } from "aws-cdk-lib/aws-ecs";
import { Code } from "aws-cdk-lib/aws-lambda";
import type { Template } from "../../infra/checks/template.ts";
import { addStage } from "../../infra/stack.ts";
import { type Deployment, deploymentOf } from "../../infra/stages.ts";
import { loadApps, stageNamed } from "../../test/support/own-project.ts";
import { topology, type Topology } from "../../src/stage/topology.ts";

const cdkJson = new URL("../../cdk.json", import.meta.url);

export interface Synthesized {
  readonly topology: Topology;
  readonly template: Template;
}

const known = new Map<string, Promise<Synthesized>>();

/** The stage's template, without its code: that has no price. @param over in place of the stage's own. */
export function synthesized(name: string, over: Partial<Deployment> = {}): Promise<Synthesized> {
  const deployment = { ...deploymentOf(name), ...over };
  const key = JSON.stringify([name, deployment]);
  const made = known.get(key) ?? synthesize(name, deployment);
  known.set(key, made);
  return made;
}

async function synthesize(name: string, deployment: Deployment): Promise<Synthesized> {
  const stage = stageNamed(name);
  const all = topology(await loadApps(stage), stage);
  const { context } = JSON.parse(readFileSync(cdkJson, "utf8")) as { context: Record<string, unknown> };
  const app = new App({ context, analyticsReporting: false, stackTraces: false, treeMetadata: false });
  const code = Code.fromInline("exports.handler = 1");
  const functions = { worker: code, "dead-letter": code, "ecs-events": code, migrate: code, api: code };
  const image = ContainerImage.fromRegistry("belfry");
  const release = { topology: all, code: { functions, release: "1" }, image };
  const stack = addStage(app, name, deployment, { release });
  return { topology: all, template: app.synth().getStackArtifact(stack.artifactId).template as Template };
}
